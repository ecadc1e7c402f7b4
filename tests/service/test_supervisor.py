"""Workers as their supervisor sees them; real processes that are killed and replaced."""

from __future__ import annotations

import json
import os
import signal
import time
from types import SimpleNamespace

import httpx
import pytest

from masker import Client
from masker.service import supervisor as module
from masker.service.supervisor import Worker
from tests.service.running import load, running


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(module, "monotonic", lambda: now.seconds)
    return now


def worker(*answers):
    """A worker that runs and gives these answers, one for each question, and then none."""
    waiting = list(answers)
    one = Worker.__new__(Worker)
    one.process = SimpleNamespace(is_alive=lambda: True)
    one.parent_conn = SimpleNamespace(send=lambda question: None, poll=lambda timeout: bool(waiting), recv=waiting.pop)
    return one


def test_a_worker_that_starts_may_take_its_time(clock):
    starting = worker()
    for _ in range(3):
        clock.seconds += 60.0
        assert starting.look() and not starting.ready


def test_a_worker_that_answers_no_more_counts_as_hung(clock):
    hung = worker(True)
    assert hung.look() and not hung.ready, "asked"
    assert hung.look() and hung.ready, "answered"
    assert hung.look(), "asked again"
    clock.seconds += 29.0
    assert hung.look()
    clock.seconds += 2.0
    assert not hung.look()


def test_a_worker_that_is_dead_or_whose_pipe_is_closed():
    def closed(question):
        raise BrokenPipeError

    dead, cut_off = worker(), worker()
    dead.process.is_alive = lambda: False
    cut_off.parent_conn.send = closed
    assert not dead.look() and not cut_off.look()


def workers_of(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as children:
        found = [int(child) for child in children.read().split()]
    return [child for child in found if "spawn_main" in open(f"/proc/{child}/cmdline").read()]


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="needs /proc")
def test_a_killed_worker_comes_back_and_no_answer_is_lost(folder):
    with running(str(folder), "--workers", "2") as service:
        first = workers_of(service.process.pid)
        assert len(first) == 2
        with load(service.url, retries=8) as answers:
            while len(answers) < 20:
                time.sleep(0.01)
            os.kill(first[0], signal.SIGKILL)
            assert service.event("worker died")["exit_code"] == -signal.SIGKILL
            while len(workers_of(service.process.pid)) < 2:
                time.sleep(0.1)
            seen = len(answers)
            while len(answers) < seen + 20:
                time.sleep(0.01)
        assert set(answers) == {3}
        # A folder that cannot be opened stops neither the workers nor their supervisor.
        manifest = (folder / "masker.json").read_text()
        (folder / "masker.json").write_text("{")
        os.kill(first[1], signal.SIGKILL)
        service.event("cannot start")
        (folder / "masker.json").write_text(manifest)
        metrics = httpx.get(f"{service.url}/metrics", timeout=60).text
        assert float(json.loads(metrics.split("masker_batch_texts_sum ")[1].split()[0])) >= 3 * len(answers)
        assert service.stop() == 0


def nobody_listens(url: str) -> bool:
    try:
        httpx.get(f"{url}/health")
    except httpx.ConnectError:
        return True
    except httpx.TransportError:  # by one that is closing
        return False
    return False


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="needs /proc")
def test_workers_reload_together_and_do_not_outlive_their_supervisor(folder, tmp_path):
    secret = tmp_path / "token"
    secret.write_text("open sesame")
    with running(str(folder), "--workers", "2", "--token-file", str(secret)) as service:
        first = workers_of(service.process.pid)
        service.signal(signal.SIGTTIN)  # one more
        while len(workers_of(service.process.pid)) < 3:
            time.sleep(0.1)
        assert set(first) < set(workers_of(service.process.pid)), "the others go on"
        manifest = (folder / "masker.json").read_text()
        (folder / "masker.json").write_text(manifest.replace('"space"', '"cosmos"'))
        with Client(service.url, token="open sesame") as client:
            assert "cosmos" in client.reload()["classes"]
        for _ in range(2):  # the worker that was asked, and another that it had told
            service.event("model reloaded")
        service.process.kill()
        service.process.wait()
        end = time.monotonic() + 60
        while not nobody_listens(service.url):
            assert time.monotonic() < end, "a worker holds the port"
            time.sleep(0.2)
