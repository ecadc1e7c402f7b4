"""The one loop that runs a network over documents: batches by token budget, results in the order of the rows.

On a CPU the batches run side by side, each on one core. That is faster than one batch on all cores, where the threads
of every operation wait for each other, and far faster when another process keeps one of the cores busy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.documents.encoding import Encoded, token_budget_batches

#: Called with the number of rows done.
Advance = Callable[[int], None]
Rows = npt.NDArray[np.int64]
Step = Callable[[Rows], Mapping[str, Any]]
#: Opens a pool of this many threads.
Team = Callable[[int], AbstractContextManager[Executor]]


@contextmanager
def thread_team(workers: int) -> Iterator[Executor]:
    """A pool of threads; leaving it cancels what has not started and waits for the rest."""
    pool = ThreadPoolExecutor(workers, "masker-batch")
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def run_in_batches(
    encoded: Encoded,
    max_tokens: int,
    step: Step,
    advance: Advance | None = None,
    *,
    workers: int = 1,
    team: Team = thread_team,
) -> dict[str, npt.NDArray[np.float32]]:
    """Run ``step`` over all rows, longest first, and put its results back in order.

    Args:
        encoded: The rows.
        max_tokens: Tokens of a batch, padding included.
        step: Takes row numbers and returns (B, ...) arrays by name. With several workers it runs in other threads,
            which do not inherit ``torch.inference_mode``.
        advance: Called with the number of rows of each batch, always in the calling thread.
        workers: Batches to run side by side, if there are at least as many.
        team: Opens the threads that run them.

    Returns:
        (N, ...) arrays by name; empty if there are no rows, or ``step`` returns nothing.
    """
    results: dict[str, npt.NDArray[np.float32]] = {}
    batches = token_budget_batches(encoded.lengths, max_tokens)
    parallel = side_by_side(batches, workers)
    done = _run_side_by_side(batches, step, team(workers)) if parallel else ((rows, step(rows)) for rows in batches)
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


def _run_side_by_side(
    batches: Sequence[Rows], step: Step, team: AbstractContextManager[Executor]
) -> Iterator[tuple[Rows, Mapping[str, Any]]]:
    """Batches with their results, as they are finished."""
    with team as pool:
        tasks = {pool.submit(step, rows): rows for rows in batches}
        for task in as_completed(tasks):
            yield tasks.pop(task), task.result()
