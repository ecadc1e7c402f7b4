"""Threads in each of which PyTorch uses one core."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

import torch

from masker.inference.batching import thread_team

_STARTING = threading.Lock()


@contextmanager
def single_core_team(workers: int) -> Iterator[Executor]:
    """A pool of threads with one core each; the calling thread and those to come keep their number."""
    started = threading.Barrier(workers)

    def use_one_core() -> None:
        torch.get_num_threads()  # a thread takes the process's number at its first use of torch: before we change it
        torch.set_num_threads(1)
        started.wait()  # holds this thread, so that each task gets one of its own

    with thread_team(workers) as pool:
        with _STARTING:
            threads = torch.get_num_threads()
            try:
                for task in [pool.submit(use_one_core) for _ in range(workers)]:
                    task.result()
            except BaseException:
                started.abort()  # releases the threads that wait if others could not be started
                raise
            finally:
                # The workers have set their own number, and with it that of threads to come: set the latter back.
                torch.set_num_threads(threads)
        yield pool
