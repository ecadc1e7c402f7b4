"""An application as replicas: what is asked of Ray Serve. The real thing is in ``tests/service/test_deployment.py``."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

pytest.importorskip("ray", reason="Ray is not installed; pip install 'masker[ray]'")

from masker.errors import ConfigError
from masker.ray import replicas
from masker.ray.cluster import Cluster, WorkerSetup
from masker.ray.replicas import ReplicaOptions, replicated, running_replicas


def test_each_worker_of_a_cluster_becomes_a_replica_with_its_share():
    options = ReplicaOptions.of(Cluster(None, 3, 2, 4, 1), grace=10.0)
    assert (options.replicas, options.num_cpus, options.num_gpus, options.grace) == (3, 4, 1, 10.0)
    assert options.setup.threads == 2 and options.setup.folder == os.getcwd()


class Serve:
    """Pretends to be Ray Serve."""

    def __init__(self, error=None):
        self.error, self.calls, self.builder, self.settings = error, [], None, {}

    def ingress(self, builder):
        self.builder = builder
        return lambda: "class"

    def deployment(self, kind):
        return SimpleNamespace(options=self._options)

    def _options(self, **settings):
        self.settings = settings
        return SimpleNamespace(bind=lambda: "bound")

    def start(self, http_options, logging_config):
        self.calls.append(("start", http_options["host"], http_options["port"]))

    def run(self, application, **options):
        self.calls.append(("run", application, options["route_prefix"]))
        if self.error:
            raise self.error

    def shutdown(self):
        self.calls.append(("shutdown",))


@pytest.fixture
def serve(monkeypatch):
    pretended = Serve()
    monkeypatch.setattr(replicas, "require", lambda purpose, module: pretended)
    return pretended


def test_the_application_is_made_in_the_replica(serve, monkeypatch):
    applied = []
    monkeypatch.setattr(WorkerSetup, "apply", lambda self: applied.append(self.threads))
    options = ReplicaOptions(2, WorkerSetup(".", {}, 3), 3, 0, 5.0)
    assert replicated(lambda: "app", options) == "bound"
    assert not applied and serve.builder() == "app" and applied == [3]
    assert serve.settings["num_replicas"] == 2 and serve.settings["graceful_shutdown_timeout_s"] == 5.0
    assert serve.settings["ray_actor_options"] == {"num_cpus": 3, "num_gpus": 0}
    # Batches form in the replica, so it must be given more than the five requests that Ray Serve would.
    assert serve.settings["max_ongoing_requests"] >= 1000


def test_the_application_runs_within_the_context(serve):
    with running_replicas("bound", "127.0.0.1", 8000):
        assert serve.calls == [("start", "127.0.0.1", 8000), ("run", "bound", "/")]
    assert serve.calls[-1] == ("shutdown",)


def test_replicas_that_cannot_start_are_one_line(serve):
    serve.error = RuntimeError("Deploying failed:\n the model is gone")
    sentence = r"^the replicas cannot be started \(Deploying failed: the model is gone\)$"
    with pytest.raises(ConfigError, match=sentence), running_replicas("bound", "127.0.0.1", 8000):
        pass
    assert serve.calls[-1] == ("shutdown",)
