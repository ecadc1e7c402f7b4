"""Seeded folds for cross-fitting and cross-validation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def stratified_folds(labels: Sequence[object], count: int, seed: int) -> npt.NDArray[np.int64]:
    """(N,) number of the fold of each row: classes are spread evenly, and all folds are about equally large."""
    rng = np.random.default_rng(seed)
    groups: dict[str, list[int]] = {}
    for row, label in enumerate(labels):
        groups.setdefault(str(label), []).append(row)
    folds = np.empty(len(labels), dtype=np.int64)
    start = 0
    for name in sorted(groups):
        rows = rng.permutation(groups[name])
        # Each class starts where the last one ended, so that small classes do not all fill the first folds.
        folds[rows] = (start + np.arange(len(rows))) % count
        start += len(rows)
    return folds
