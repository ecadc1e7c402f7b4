"""Ray is started on the loopback interface alone, and what is wrong with it is one line."""

from __future__ import annotations

import ipaddress
import os
import sys
from types import SimpleNamespace

import psutil
import pytest

from masker.errors import ConfigError, MissingPackageError
from masker.ray import cluster as cluster_module
from masker.ray.cluster import limit_threads, open_cluster


def test_ray_listens_on_loopback_only(ray_session):
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    listening = [
        connection.laddr.ip
        for process in processes
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert len(listening) >= 3, "store, scheduler and this process at least"
    addresses = {ipaddress.ip_address(ip.removeprefix("::ffff:")) for ip in listening}
    assert all(address.is_loopback for address in addresses), addresses


def test_a_running_ray_is_used_and_left_alone(ray_session):
    with open_cluster(pieces=5) as same:
        assert (same.workers, same.threads) == (2, 1)
    with open_cluster(pieces=1) as same:
        assert (same.workers, same.threads) == (1, 2)
    with open_cluster(pieces=5, workers=4) as same:
        assert same.workers == 2, "no more than there are cores"
    with open_cluster(pieces=5, cores_each=2) as same:
        assert (same.workers, same.threads) == (1, 2)
    assert ray_session.ray.is_initialized()


@pytest.mark.parametrize(
    ("gpus", "wanted", "workers", "expected"),
    [
        (3, True, None, (2, 1, 1)),  # one GPU for each of the two workers that there are cores for
        (1, True, None, (1, 2, 1)),  # one GPU, so one worker, with both cores
        (1, True, 2, (1, 2, 1)),
        (1, False, None, (2, 1, 0)),  # work that cannot use it leaves it alone
        (0, True, None, (2, 1, 0)),
    ],
)
def test_one_gpu_for_each_worker(ray_session, monkeypatch, caplog, gpus, wanted, workers, expected):
    """A pretended GPU count on the real two cores: workers, threads and GPUs of each."""
    resources = {"CPU": 2.0, **({"GPU": float(gpus)} if gpus else {})}
    monkeypatch.setattr(ray_session.ray, "cluster_resources", lambda: resources)
    with open_cluster(pieces=5, workers=workers, gpus=wanted) as cluster:
        assert (cluster.workers, cluster.threads, cluster.num_gpus) == expected
        assert cluster.resources == {"num_cpus": cluster.threads, "num_gpus": cluster.num_gpus}
    assert ("does not have the GPUs for 2 workers; running 1" in caplog.text) == (workers == 2)


def test_a_ray_of_our_own_shares_its_gpus_too(monkeypatch):
    """Started here, Ray is told of one CPU per worker, and finds the GPUs itself."""
    started = []
    pretended = SimpleNamespace(
        is_initialized=lambda: False, shutdown=lambda: None, cluster_resources=lambda: {"CPU": 4.0, "GPU": 2.0}
    )
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(cluster_module, "_require_ray", lambda: pretended)
    monkeypatch.setattr(cluster_module, "_start", lambda ray, workers: started.append(workers))
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: range(8), raising=False)
    with open_cluster(pieces=9, workers=4) as cluster:
        assert (cluster.workers, cluster.threads, cluster.resources) == (2, 4, {"num_cpus": 1, "num_gpus": 1})
    assert started == [4]


def test_without_ray_the_way_to_install_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        pytest.raises(MissingPackageError, match=r"^--engine ray needs ray .*pip install 'masker\[ray\]'$"),
        open_cluster(pieces=1),
    ):
        pass


@pytest.mark.parametrize("given", ["argument", "environment"])
def test_a_cluster_that_does_not_answer_is_one_line(monkeypatch, given):
    ray = pytest.importorskip("ray", reason="Ray is not installed; pip install 'masker[ray]'")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    address = "127.0.0.1:1"  # a port that nobody listens on
    if given == "environment":
        monkeypatch.setenv("RAY_ADDRESS", address)
    with (
        pytest.raises(ConfigError, match=r"^cannot join a Ray cluster at '127.0.0.1:1' \(.*refused.*\)[^\n]*$"),
        open_cluster(pieces=1, address=address if given == "argument" else None),
    ):
        pass


def test_threads_are_limited_whether_torch_is_loaded_or_not(monkeypatch):
    import torch

    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    before = torch.get_num_threads()
    try:
        limit_threads(2)
        assert torch.get_num_threads() == 2
        assert os.environ["OMP_NUM_THREADS"] == "2"
    finally:
        torch.set_num_threads(before)
