"""Threads with one core each, and what they leave alone."""

import threading

import pytest
import torch

from masker.inference.torch_threads import single_core_team


@pytest.fixture(autouse=True)
def two_cores():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_each_thread_has_one_core():
    """Every task waits for two others, so with fewer than three threads this test would time out."""
    together = threading.Barrier(3, timeout=20)

    def task():
        together.wait()
        return threading.get_ident(), torch.get_num_threads()

    with single_core_team(3) as pool:
        seen = {task.result() for task in [pool.submit(task) for _ in range(6)]}
    assert len(seen) == 3 and {cores for _, cores in seen} == {1}


def test_other_threads_keep_their_number_of_cores():
    with single_core_team(3):
        seen = [torch.get_num_threads()]
        later = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
        later.start()
        later.join()
    assert seen == [2, 2]


def test_a_thread_that_cannot_be_started_holds_up_no_other(monkeypatch):
    start, begun = threading.Thread.start, []

    def at_most_two(thread):
        if len(begun) == 2:
            raise RuntimeError("can't start new thread")
        begun.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", at_most_two)
    with pytest.raises(RuntimeError, match="can't start new thread"), single_core_team(3):
        pass
    for thread in begun:
        thread.join(20)
    assert not any(thread.is_alive() for thread in begun)
    assert torch.get_num_threads() == 2
