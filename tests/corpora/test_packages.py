"""Wheels as containers of data: pip runs in a process of its own, here a pretended one."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from masker.corpora import packages
from masker.corpora.packages import Wheel, cache_folder, download_wheel
from masker.errors import DataError

CONTENT = b"a wheel"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
THING = Wheel("thing", "1.0", DIGEST)


def pretend_pip(monkeypatch, *, code=0, stderr="", content=CONTENT):
    """Replace pip; the list returned collects the commands it was called with."""
    commands = []

    def run(command, **options):
        commands.append(command)
        assert options["check"] is False
        assert not options.get("shell")
        if content is not None:
            folder = Path(command[command.index("--dest") + 1])
            (folder / "thing-1.0-py3-none-any.whl").write_bytes(content)
        return subprocess.CompletedProcess(command, code, "", stderr)

    monkeypatch.setattr(packages.subprocess, "run", run)
    return commands


def test_download_asks_pip_for_one_pinned_wheel(monkeypatch, tmp_path):
    commands = pretend_pip(monkeypatch)
    wheel = download_wheel(THING, tmp_path)
    assert wheel.read_bytes() == CONTENT
    assert wheel.parent == tmp_path
    (command,) = commands
    assert command[:4] == [sys.executable, "-m", "pip", "download"]
    assert command[-1] == "thing==1.0"
    # Nothing else is fetched and no build script of a source package can run.
    assert {"--no-deps", "--only-binary=:all:"} <= set(command)


def test_pip_failure_is_one_line_with_its_reason(monkeypatch, tmp_path):
    noise = "WARNING: retrying\nERROR: Could not find a version\nERROR: No matching distribution found for thing==1.0\n"
    pretend_pip(monkeypatch, code=1, stderr=noise, content=None)
    with pytest.raises(DataError, match=r"cannot download package thing==1\.0; .*No matching distribution") as caught:
        download_wheel(THING, tmp_path)
    assert "\n" not in str(caught.value)


def test_pip_failure_without_a_reason(monkeypatch, tmp_path):
    pretend_pip(monkeypatch, code=2, content=None)
    with pytest.raises(DataError, match=r"cannot download package thing==1\.0"):
        download_wheel(THING, tmp_path)


def test_pip_failure_counts_even_when_a_file_is_there(monkeypatch, tmp_path):
    pretend_pip(monkeypatch, code=1)
    with pytest.raises(DataError, match=r"cannot download package thing==1\.0"):
        download_wheel(THING, tmp_path)


def test_pip_that_gets_nothing(monkeypatch, tmp_path):
    pretend_pip(monkeypatch, content=None)
    with pytest.raises(DataError, match=r"cannot download package thing==1\.0"):
        download_wheel(THING, tmp_path)


def test_pip_that_cannot_be_run(monkeypatch, tmp_path):
    def run(*_, **__):
        raise FileNotFoundError("no interpreter")

    monkeypatch.setattr(packages.subprocess, "run", run)
    with pytest.raises(DataError, match="cannot run pip"):
        download_wheel(THING, tmp_path)


def test_wrong_checksum_is_refused_with_both_digests(monkeypatch, tmp_path):
    pretend_pip(monkeypatch, content=b"another wheel")
    found = hashlib.sha256(b"another wheel").hexdigest()
    with pytest.raises(DataError, match=f"{found[:12]}.*{DIGEST[:12]}") as caught:
        download_wheel(THING, tmp_path)
    assert "\n" not in str(caught.value)


def test_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "here"))
    assert cache_folder() == tmp_path / "here"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MASKER_CACHE", "~/there")
    assert cache_folder() == tmp_path / "there"
    for unset in (lambda: monkeypatch.setenv("MASKER_CACHE", ""), lambda: monkeypatch.delenv("MASKER_CACHE")):
        unset()
        assert cache_folder() == tmp_path / ".cache" / "masker"
