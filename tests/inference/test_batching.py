"""The one loop over batches."""

import threading
import time

import numpy as np
import pytest

from masker.documents.encoding import Encoded
from masker.inference.batching import run_in_batches

LENGTHS = [3, 9, 5, 9, 4, 7, 3]


def rows_of(lengths):
    return Encoded([np.full(length, length) for length in lengths], None, None, np.arange(len(lengths)))


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("budget", [1, 20, 4096])
def test_results_come_in_the_order_of_the_rows_whatever_the_batches(budget, workers):
    encoded, seen, batches = rows_of(LENGTHS), [], []

    def step(rows):
        batches.append(rows.tolist())
        longest = max(LENGTHS[row] for row in rows)
        assert len(rows) == 1 or longest * len(rows) <= budget
        return {"length": np.array([[LENGTHS[row], row] for row in rows]), "row": rows.astype(np.float32)}

    found = run_in_batches(encoded, budget, step, seen.append, workers=workers)
    assert found["length"].tolist() == [[length, row] for row, length in enumerate(LENGTHS)]
    assert found["row"].tolist() == list(range(7)) and found["row"].dtype == np.float32
    assert sum(seen) == 7 and sorted(row for batch in batches for row in batch) == list(range(7))


def test_no_rows_and_no_results():
    assert run_in_batches(rows_of([]), 10, lambda rows: {"a": rows}) == {}
    assert run_in_batches(rows_of([3]), 10, lambda rows: {}) == {}


def test_batches_run_side_by_side():
    """Every step waits for another one, so with fewer than two at a time this test would time out."""
    together, threads, reports = threading.Barrier(2, timeout=20), set(), []

    def step(rows):
        together.wait()
        time.sleep(0.001 * int(rows[0]))  # they do not finish in the order they started
        threads.add(threading.get_ident())
        return {"row": rows.astype(np.float32)}

    def advance(count):
        reports.append((threading.get_ident(), count))

    found = run_in_batches(rows_of([3] * 8), 3, step, advance, workers=2)
    assert found["row"].tolist() == list(range(8))
    assert len(threads) == 2
    assert reports == [(threading.get_ident(), 1)] * 8, "progress is reported by the calling thread"


def test_few_batches_run_in_the_calling_thread():
    threads = set()

    def step(rows):
        threads.add(threading.get_ident())
        return {}

    run_in_batches(rows_of([3, 3, 3]), 3, step, workers=4)
    assert threads == {threading.get_ident()}


def test_an_error_in_a_worker_reaches_the_caller_and_ends_the_rest():
    calls = []

    def step(rows):
        calls.append(int(rows[0]))
        if rows[0] == 0:
            raise RuntimeError("broken")
        time.sleep(0.01)
        return {}

    with pytest.raises(RuntimeError, match="broken"):
        run_in_batches(rows_of([3] * 100), 3, step, workers=2)
    assert len(calls) < 50
