r"""Figures of documents that have any number of labels, from (N, C) flags of the labels given and those that are true.

.. math::
    F_1^{micro} = \frac{2 \sum_c TP_c}{2 \sum_c TP_c + FP_c + FN_c}, \qquad
    F_1^{macro} = \frac{1}{|S|} \sum_{c \in S} \frac{2 \, TP_c}{2 \, TP_c + FP_c + FN_c}

``S`` holds the labels that some document has or is given, as in :func:`masker.metrics.macro_f1`. The missed share of a
document is the share of its labels that it is not given; documents without labels have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.errors import DataError
from masker.metrics.intervals import RESAMPLES, Interval, bootstrap
from masker.metrics.vectors import FloatArray, IntArray

LabelFlags = npt.NDArray[Any]


def micro_f1(true: LabelFlags, given: LabelFlags) -> float:
    """F1 over all pairs of document and label; 1 if there is no label and none is given."""
    hits, mentions = _counts(true, given)
    return _micro(hits.sum(axis=0), mentions.sum(axis=0))


def missed_shares(true: LabelFlags, given: LabelFlags) -> FloatArray:
    """(M,) missed shares of the M documents that have a label."""
    own = true.astype(bool).sum(axis=1)
    missed = (true.astype(bool) & ~given.astype(bool)).sum(axis=1)
    return np.asarray(missed[own > 0] / own[own > 0])


def label_set_report(
    true: LabelFlags, given: LabelFlags, *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Interval]:
    """``micro_f1``, ``macro_f1``, ``exact_match`` (the share of documents with all labels right) and ``missed_share``.

    Each has a 95 % bootstrap interval, and all share the resamples; the missed share those of documents with labels.

    Raises:
        DataError: When no document has a label, so that nothing can be missed.
    """
    hits, mentions = _counts(true, given)
    exact = (true.astype(bool) == given.astype(bool)).all(axis=1)
    shares = missed_shares(true, given)
    if not len(shares):
        raise DataError("no test document has a label; give some that do")

    def sums(rows: IntArray) -> tuple[FloatArray, FloatArray]:
        weights = np.bincount(rows, minlength=len(true)).astype(np.float32)
        return weights @ hits, weights @ mentions

    options = {"resamples": resamples, "seed": seed}
    return {
        "micro_f1": bootstrap(lambda rows: _micro(*sums(rows)), len(true), **options),
        "macro_f1": bootstrap(lambda rows: _macro(*sums(rows)), len(true), **options),
        "exact_match": bootstrap(lambda rows: float(exact[rows].mean()), len(true), **options),
        "missed_share": bootstrap(lambda rows: float(shares[rows].mean()), len(shares), **options),
    }


def label_table(true: LabelFlags, given: LabelFlags, classes: Sequence[str]) -> list[dict[str, Any]]:
    """For each label: documents that have it, documents that are given it, precision, recall and F1.

    ``None`` stands for what has no documents to be measured on.
    """
    hits = (true.astype(bool) & given.astype(bool)).sum(axis=0)
    have, told = true.astype(bool).sum(axis=0), given.astype(bool).sum(axis=0)

    def share(part: int, whole: int) -> float | None:
        return float(part / whole) if whole else None

    return [
        {
            "label": name,
            "documents": int(have[place]),
            "given": int(told[place]),
            "precision": share(hits[place], told[place]),
            "recall": share(hits[place], have[place]),
            "f1": share(2 * hits[place], have[place] + told[place]),
        }
        for place, name in enumerate(classes)
    ]


def _counts(true: LabelFlags, given: LabelFlags) -> tuple[FloatArray, FloatArray]:
    """(N, C) true positives, and 2 TP + FP + FN = times that a label is true + times that it is given."""
    if true.shape != given.shape or not len(true):
        raise DataError(f"labels must have the same shape and a row at least; received {true.shape} and {given.shape}")
    hits = true.astype(bool) & given.astype(bool)
    return hits.astype(np.float32), true.astype(bool).astype(np.float32) + given.astype(bool)


def _micro(hits: FloatArray, mentions: FloatArray) -> float:
    total = float(mentions.sum())
    return 2.0 * float(hits.sum()) / total if total else 1.0


def _macro(hits: FloatArray, mentions: FloatArray) -> float:
    present = mentions > 0
    return float(np.mean(2.0 * hits[present] / mentions[present])) if present.any() else 1.0
