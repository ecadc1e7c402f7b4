"""Ray is started on the loopback interface alone, and what is wrong with it is one line."""

from __future__ import annotations

import ipaddress
import os
import sys

import psutil
import pytest

from masker.errors import ConfigError
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


def test_without_ray_the_way_to_install_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        pytest.raises(ConfigError, match=r"--engine ray needs Ray .*pip install 'masker\[ray\]'"),
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
        pytest.raises(ConfigError, match=r"^no Ray cluster takes us at '127.0.0.1:1' \(.*refused.*\)[^\n]*$"),
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
