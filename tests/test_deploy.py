"""The files in deploy/: linted where a linter is at hand, and their command lines are those of ``masker serve``."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from masker.cli.serve import serve_command

DEPLOY = Path(__file__).parent.parent / "deploy"
DOCKERFILE, UNIT = DEPLOY / "Dockerfile", DEPLOY / "masker.service"


def instruction(name: str) -> str:
    """The last instruction of this name, its lines joined."""
    text = DOCKERFILE.read_text().replace("\\\n", " ")
    return re.findall(rf"^{name} (.*)$", text, re.MULTILINE)[-1]


def parsed(command: list[str]) -> dict:
    assert Path(command[0]).name == "masker" and command[1] == "serve"
    return serve_command.make_context("serve", command[2:]).params


def test_the_image_starts_a_service_that_exists():
    command = json.loads(instruction("ENTRYPOINT")) + json.loads(instruction("CMD"))
    options = parsed(command)
    assert options["model"] == "/model" and options["token_file"] == "/run/secrets/token"
    assert options["host"] == "0.0.0.0"


def test_the_image_does_not_run_as_root_and_is_told_to_stop_gently():
    user = instruction("USER")
    assert user.isdecimal() and int(user) > 0
    assert instruction("STOPSIGNAL") == "SIGTERM"
    assert ":/model:ro" in DOCKERFILE.read_text() and "--read-only" in DOCKERFILE.read_text()


def setting(name: str) -> str:
    return re.findall(rf"^{name}=(.*)$", UNIT.read_text(), re.MULTILINE)[-1]


def test_the_unit_starts_a_service_that_exists_and_reloads_it():
    options = parsed(shlex.split(setting("ExecStart")))
    assert options["token_file"] == "${CREDENTIALS_DIRECTORY}/token" and setting("LoadCredential").startswith("token:")
    assert options["model"] == setting("ReadOnlyPaths")
    assert "-HUP $MAINPID" in setting("ExecReload") and setting("DynamicUser") == "yes"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_understands_the_unit():
    done = subprocess.run(["systemd-analyze", "verify", str(UNIT)], capture_output=True, text=True, check=False)
    # It is not installed here.
    assert not [line for line in done.stderr.splitlines() if "is not executable" not in line]


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="hadolint is not installed")
def test_the_linter_has_nothing_to_say_about_the_image():
    done = subprocess.run(["hadolint", str(DOCKERFILE)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
