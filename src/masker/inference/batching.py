"""The one loop that runs a network over documents: batches by token budget, results in the order of the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.documents.encoding import Encoded, token_budget_batches

#: Called with the number of rows done.
Advance = Callable[[int], None]
Rows = npt.NDArray[np.int64]


def run_in_batches(
    encoded: Encoded, max_tokens: int, step: Callable[[Rows], Mapping[str, Any]], advance: Advance | None = None
) -> dict[str, npt.NDArray[np.float32]]:
    """Run ``step`` over all rows, longest first, and put its results back in order.

    Args:
        encoded: The rows.
        max_tokens: Tokens of a batch, padding included.
        step: Takes row numbers and returns (B, ...) arrays by name.
        advance: Called with the number of rows of each batch.

    Returns:
        (N, ...) arrays by name; empty if there are no rows, or ``step`` returns nothing.
    """
    results: dict[str, npt.NDArray[np.float32]] = {}
    for rows in token_budget_batches(encoded.lengths, max_tokens):
        for name, values in step(rows).items():
            if name not in results:
                results[name] = np.empty((len(encoded), *values.shape[1:]), dtype=np.float32)
            results[name][rows] = values
        if advance is not None:
            advance(len(rows))
    return results
