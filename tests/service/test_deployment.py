"""The service on Ray: what a configuration file may say; two replicas, one of which is killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time

import pytest

pytest.importorskip("ray", reason="Ray is not installed; pip install 'masker[ray]'")

from masker.errors import ConfigError
from masker.service import deployment
from masker.service.deployment import ReplicaApp, application
from tests.service.conftest import FOLDER
from tests.service.running import Running, load


@pytest.fixture
def asked(monkeypatch):
    """What would be deployed."""
    calls = []
    monkeypatch.setattr(deployment, "replicated", lambda build, options: calls.append((build, options)))
    return calls


def test_a_configuration_file_names_model_replicas_and_limits(asked, tmp_path):
    (tmp_path / "token").write_text("secret")
    application(
        {
            "model": "m",
            "replicas": 3,
            "cores": 2,
            "backend": "onnx",
            "max_texts": 7,
            "token_file": str(tmp_path / "token"),
        }
    )
    ((build, options),) = asked
    assert build.served.folder == "m" and build.served.opening == {"backend": "onnx"}
    assert build.served.options.max_texts == 7 and build.served.options.token == "secret"
    assert (options.replicas, options.num_cpus, options.setup.threads) == (3, 2, 2)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "'model' is missing"),
        ({"model": "m", "replica": 2}, r"unknown 'replica'; known: .* Did you mean 'replicas'\?"),
    ],
)
def test_what_it_may_not_say_is_named(asked, arguments, sentence):
    with pytest.raises(ConfigError, match=sentence):
        application(arguments)
    assert not asked


def test_a_replica_does_not_reload(monkeypatch):
    from masker.service.served_folder import ServedFolder

    monkeypatch.setattr(deployment.logging.config, "dictConfig", lambda settings: None)
    monkeypatch.setattr(deployment, "use_one_core_for_blas", lambda: None)
    app = ReplicaApp(ServedFolder(str(FOLDER)))()
    assert app.state.service._reopen is None and app.state.service.name == "exported-bert"


def replicas() -> list[int]:
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if "ray::ServeReplica:masker" in line]


@pytest.mark.slow
def test_a_killed_replica_is_replaced_and_no_answer_is_lost():
    """Two replicas under load; one is killed. Callers that retry get every answer, and a new replica comes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    others = set(replicas())
    service = Running(str(FOLDER), "--engine", "ray", "--workers", "2", port=port, env=environment)
    try:
        first = set(replicas()) - others
        assert len(first) == 2
        with load(service.url, callers=8, retries=8) as answers:
            while len(answers) < 50:
                time.sleep(0.01)
            os.kill(min(first), signal.SIGKILL)
            end = time.monotonic() + 120
            while len(set(replicas()) - others - {min(first)}) < 2:
                assert time.monotonic() < end
                time.sleep(0.2)
            seen = len(answers)
            while len(answers) < seen + 50:
                time.sleep(0.01)
        assert set(answers) == {3}
    finally:
        assert service.stop() == 0
