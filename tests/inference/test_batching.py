"""The one loop over batches."""

import numpy as np
import pytest

from masker.documents.encoding import Encoded
from masker.inference.batching import run_in_batches

LENGTHS = [3, 9, 5, 9, 4, 7, 3]


def rows_of(lengths):
    return Encoded([np.full(length, length) for length in lengths], None, None, np.arange(len(lengths)))


@pytest.mark.parametrize("budget", [1, 20, 4096])
def test_results_come_in_the_order_of_the_rows_whatever_the_batches(budget):
    encoded, seen, batches = rows_of(LENGTHS), [], []

    def step(rows):
        batches.append(rows.tolist())
        longest = max(LENGTHS[row] for row in rows)
        assert len(rows) == 1 or longest * len(rows) <= budget
        return {"length": np.array([[LENGTHS[row], row] for row in rows]), "row": rows.astype(np.float32)}

    found = run_in_batches(encoded, budget, step, seen.append)
    assert found["length"].tolist() == [[length, row] for row, length in enumerate(LENGTHS)]
    assert found["row"].tolist() == list(range(7)) and found["row"].dtype == np.float32
    assert sum(seen) == 7 and sorted(row for batch in batches for row in batch) == list(range(7))


def test_no_rows_and_no_results():
    assert run_in_batches(rows_of([]), 10, lambda rows: {"a": rows}) == {}
    assert run_in_batches(rows_of([3]), 10, lambda rows: {}) == {}
