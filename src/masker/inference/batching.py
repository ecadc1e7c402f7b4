"""The one loop that runs a network over documents: batches by token budget, results in the order of the rows.

On a CPU the batches run side by side, each on one core. That is faster than one batch on all cores, where the threads
of every operation wait for each other, and far faster when another process keeps one of the cores busy.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from masker.documents.encoding import Encoded, token_budget_batches

#: Called with the number of rows done.
Advance = Callable[[int], None]
Rows = npt.NDArray[np.int64]
Step = Callable[[Rows], Mapping[str, Any]]

_STARTING = threading.Lock()


def run_in_batches(
    encoded: Encoded, max_tokens: int, step: Step, advance: Advance | None = None, *, workers: int = 1
) -> dict[str, npt.NDArray[np.float32]]:
    """Run ``step`` over all rows, longest first, and put its results back in order.

    Args:
        encoded: The rows.
        max_tokens: Tokens of a batch, padding included.
        step: Takes row numbers and returns (B, ...) arrays by name. With several workers it runs in other threads,
            which do not inherit ``torch.inference_mode``.
        advance: Called with the number of rows of each batch, always in the calling thread.
        workers: Batches to run side by side, if there are at least as many; torch uses one core for each then.

    Returns:
        (N, ...) arrays by name; empty if there are no rows, or ``step`` returns nothing.
    """
    results: dict[str, npt.NDArray[np.float32]] = {}
    batches = token_budget_batches(encoded.lengths, max_tokens)
    parallel = side_by_side(batches, workers)
    done = _run_side_by_side(batches, step, workers) if parallel else ((rows, step(rows)) for rows in batches)
    for rows, outputs in done:
        for name, values in outputs.items():
            if name not in results:
                results[name] = np.empty((len(encoded), *values.shape[1:]), dtype=np.float32)
            results[name][rows] = values
        if advance is not None:
            advance(len(rows))
    return results


def side_by_side(batches: Sequence[Rows], workers: int) -> bool:
    """Whether there are enough batches to keep all workers busy."""
    return len(batches) >= workers > 1


def _run_side_by_side(batches: Sequence[Rows], step: Step, workers: int) -> Iterator[tuple[Rows, Mapping[str, Any]]]:
    """Batches with their results, as they are finished."""
    started = threading.Barrier(workers + 1)

    def use_one_core() -> None:
        torch.get_num_threads()  # a thread takes the process's number at its first use of torch: before we change it
        torch.set_num_threads(1)
        started.wait()

    pool = ThreadPoolExecutor(workers, "masker-batch", initializer=use_one_core)
    try:
        with _STARTING, _aborting(started):
            threads = torch.get_num_threads()
            tasks = {pool.submit(step, rows): rows for rows in batches}
            started.wait()
            # The workers have set their own number, and with it that of threads to come: set the latter back.
            torch.set_num_threads(threads)
        for task in as_completed(tasks):
            yield tasks.pop(task), task.result()
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _aborting(started: threading.Barrier) -> Iterator[None]:
    """Release the threads that wait if others could not be started."""
    try:
        yield
    except BaseException:
        started.abort()
        raise
