r"""Open-set figures: the model's decisions on known and unknown texts, with the unknown as one more class.

Labels are integers: ``0 … K-1`` are the known classes, ``K`` is the unknown. An out-of-distribution text has the true
label ``K``, and a rejected text is predicted as ``K``. Unlike the figures of :mod:`masker.metrics.ood_detection`, these
depend on the threshold: they measure what a user gets at the model's decision rule.

The F1 score of a class is :math:`F_c = \frac{2 \, TP_c}{2 \, TP_c + FP_c + FN_c}`. As in
:func:`~masker.metrics.classification.macro_f1`, a mean leaves out a class that is neither among the true nor among the
predicted labels. Not in the paper; this is how work on open intent detection reports its results.

All functions raise :class:`~masker.errors.DataError` if the columns differ in length, are empty, or hold a label
outside ``0 … K``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from masker.errors import DataError
from masker.metrics.intervals import RESAMPLES, Interval, percentile_interval, resampling_generator
from masker.metrics.vectors import FloatArray, IntArray, check_same_length


class _Counts(NamedTuple):
    """For each class, the unknown last: how often it is true, predicted, and both; each ``(K + 1,)``."""

    true: FloatArray
    predicted: FloatArray
    hits: FloatArray


def open_accuracy(true: npt.ArrayLike, predicted: npt.ArrayLike, known: int) -> float:
    r"""The share of all texts with the right label, where the right label of an unknown text is the unknown.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} [\hat{y}_i = y_i]
    """
    return _accuracy(_count(true, predicted, known))


def open_f1(true: npt.ArrayLike, predicted: npt.ArrayLike, known: int) -> float:
    r"""Macro F1 over all classes, the unknown included.

    .. math:: \frac{1}{K + 1} \sum_{c=0}^{K} F_c
    """
    return _mean_f1(_count(true, predicted, known))


def f1_known(true: npt.ArrayLike, predicted: npt.ArrayLike, known: int) -> float:
    r"""Macro F1 over the known classes. Unknown texts count as false positives of the class they are taken for.

    .. math:: \frac{1}{K} \sum_{c=0}^{K-1} F_c
    """
    return _f1_known(_count(true, predicted, known))


def f1_unknown(true: npt.ArrayLike, predicted: npt.ArrayLike, known: int) -> float:
    """F1 of the unknown, :math:`F_K`; 0 if it is neither among the true nor among the predicted labels."""
    return _f1_unknown(_count(true, predicted, known))


def open_set_report(
    true: npt.ArrayLike, predicted: npt.ArrayLike, known: int, *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Interval]:
    """``accuracy``, ``macro_f1``, ``f1_known`` and ``f1_unknown``, each with a 95 % bootstrap interval.

    The bootstrap is stratified: known and unknown texts are resampled separately, each to their own number. All figures
    share the resamples. Drawing n rows with replacement is drawing the counts of their distinct (true, predicted) pairs
    from a multinomial distribution, so the work grows with the number of distinct pairs, not with the number of texts.

    Args:
        true: The true classes, ``known`` for an out-of-distribution text.
        predicted: The predicted classes, ``known`` for a rejected text.
        known: The number K of known classes.

    Raises:
        ConfigError: ``resamples`` or ``seed`` is out of range.
    """
    generator = resampling_generator(resamples=resamples, seed=seed)
    rows = _checked(true, predicted, known)
    pairs, numbers = np.unique(rows, axis=1, return_counts=True)  # (2, P), (P,)
    parts = [part for part in (pairs[0] < known, pairs[0] == known) if part.any()]
    samples = np.empty((len(_FIGURES), resamples))
    drawn = np.empty_like(numbers)
    for draw in range(resamples):
        for part in parts:
            total = numbers[part].sum()
            drawn[part] = generator.multinomial(total, numbers[part] / total)
        counts = _counts(pairs, drawn, known)
        samples[:, draw] = [figure(counts) for figure in _FIGURES.values()]
    full = _counts(pairs, numbers, known)
    return {
        name: percentile_interval(figure(full), samples[row]) for row, (name, figure) in enumerate(_FIGURES.items())
    }


def _checked(true: npt.ArrayLike, predicted: npt.ArrayLike, known: int) -> IntArray:
    """Both columns as one array of shape ``(2, n)``."""
    columns = {"true": np.asarray(true), "predicted": np.asarray(predicted)}
    check_same_length(**columns)
    for name, column in columns.items():
        outside = column[(column < 0) | (column > known)]
        if outside.size:
            raise DataError(
                f"{name} labels must lie between 0 and {known}, the unknown; received {outside[0]}. "
                "Pass indices of the classes."
            )
    return np.stack(list(columns.values())).astype(np.int64)


def _count(true: npt.ArrayLike, predicted: npt.ArrayLike, known: int) -> _Counts:
    rows = _checked(true, predicted, known)
    return _counts(rows, np.ones(rows.shape[1], dtype=np.int64), known)


def _counts(pairs: IntArray, numbers: IntArray, known: int) -> _Counts:
    """Counts by class, from (true, predicted) pairs ``(2, P)`` and how often each occurs, ``(P,)``."""
    right = pairs[0] == pairs[1]
    return _Counts(
        _sum_by_class(pairs[0], numbers, known),
        _sum_by_class(pairs[1], numbers, known),
        _sum_by_class(pairs[0, right], numbers[right], known),
    )


def _sum_by_class(classes: IntArray, numbers: IntArray, known: int) -> FloatArray:
    return np.bincount(classes, weights=numbers, minlength=known + 1).astype(np.float64)


def _accuracy(counts: _Counts) -> float:
    return float(counts.hits.sum() / counts.true.sum())


def _mean_f1(counts: _Counts, classes: slice = slice(None)) -> float:
    # 2 TP + FP + FN = times the class is true + times it is predicted
    mentions = (counts.true + counts.predicted)[classes]
    present = mentions > 0
    return float(np.mean(2.0 * counts.hits[classes][present] / mentions[present])) if present.any() else 0.0


def _f1_known(counts: _Counts) -> float:
    return _mean_f1(counts, slice(0, -1))


def _f1_unknown(counts: _Counts) -> float:
    return _mean_f1(counts, slice(-1, None))


_FIGURES: dict[str, Callable[[_Counts], float]] = {
    "accuracy": _accuracy,
    "macro_f1": _mean_f1,
    "f1_known": _f1_known,
    "f1_unknown": _f1_unknown,
}
