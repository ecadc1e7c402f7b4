"""``masker serve`` as it is typed."""

from __future__ import annotations

import socket

import pytest

pytest.importorskip("fastapi", reason="FastAPI is not installed; pip install 'masker[serve]'")

from masker.commands import serve as command
from masker.ray.cluster import RayOptions
from masker.service.server import Listening
from masker.service.service_options import ServiceOptions
from tests.cli.command_line import one_line, run, start
from tests.service.conftest import FOLDER


@pytest.fixture
def asked(monkeypatch):
    calls = []
    monkeypatch.setattr(command, "serve", lambda served, listening, ray: calls.append((served, listening, ray)))
    return calls


def test_the_defaults_are_those_of_the_library(asked):
    assert run("serve", "model").returncode == 0
    ((served, listening, ray),) = asked
    assert served.folder == "model" and served.options == ServiceOptions() and listening == Listening() and ray is None
    assert served.opening == {
        "backend": None, "score": None, "false_alarm_rate": None, "device": "auto", "confidence": None,
    }  # fmt: skip


def test_options_arrive(asked, tmp_path):
    (tmp_path / "token").write_text("secret\n")
    options = [
        "--backend",
        "onnx-int8",
        "--false-alarm-rate",
        "0.01",
        "--host",
        "0.0.0.0",
        "--port",
        "9",
        "--workers",
        "3",
    ]
    options += ["--token-file", str(tmp_path / "token"), "--max-batch-tokens", "10", "--batch-wait-ms", "2.5"]
    options += ["--max-queue", "11", "--max-texts", "12", "--max-characters", "13", "--max-body-bytes", "14"]
    options += [
        "--request-timeout",
        "1.5",
        "--log-level",
        "warning",
        "--log-texts",
        "--engine",
        "ray",
        "--address",
        "h:1",
    ]
    done = run("serve", "model", *options)
    assert done.returncode == 0, done.stderr
    ((served, listening, ray),) = asked
    assert served.opening["backend"] == "onnx-int8" and served.opening["false_alarm_rate"] == 0.01
    assert listening == Listening("0.0.0.0", 9, 3, False, "warning") and ray == RayOptions(3, "h:1")
    assert served.options == ServiceOptions(10, 2.5, 11, 12, 16, 13, 14, 1.5, "secret", True)


def test_a_default_in_the_help_is_the_default():
    text = " ".join(run("serve", "--help").stdout.split())
    defaults = {name: getattr(ServiceOptions(), name) for name in vars(ServiceOptions()) if name != "max_evidence"}
    numbers = {name: value for name, value in defaults.items() if type(value) in (int, float)}
    assert len(numbers) == 7
    for name, value in numbers.items():
        option = text.split(f"--{name.replace('_', '-')} ")[1].split(" --")[0]
        assert option.endswith(f"[default: {int(value)}]") or f"[default: {int(value)}] " in option, option


def test_what_cannot_be_served_is_one_line(tmp_path):
    assert "--address needs --engine ray" in one_line(run("serve", "model", "--address", "h:1"))
    assert "max_texts: must be at least 1; got 0" in one_line(run("serve", "model", "--max-texts", "0"))
    assert "--token-file" in one_line(run("serve", "model", "--token-file", str(tmp_path / "none")))
    assert "anybody who reaches 0.0.0.0" in one_line(run("serve", str(FOLDER), "--host", "0.0.0.0"))
    assert "nothing" in one_line(run("serve", str(tmp_path / "nothing"), "--port", "0"))
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        assert "choose another --port" in one_line(run("serve", str(FOLDER), "--port", str(other.getsockname()[1])))


def test_workers_that_cannot_start_end_the_command(tmp_path):
    service = start("serve", str(tmp_path / "nothing"), "--port", "0", "--workers", "2")
    _, errors = service.communicate(timeout=120)
    assert service.returncode == 2
    assert '"event": "cannot start"' in errors and "nothing" in errors
    assert errors.splitlines()[-1] == "masker: no worker could start; the lines above say why"
