"""Accuracy, macro F1 and calibration error on in-distribution texts.

Paper: its tables report accuracy next to the detection metrics, to show that it does not drop. Macro F1 and the
calibration error are not in the paper.

All functions raise :class:`~masker.errors.DataError` if the columns differ in length or are empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from masker.errors import ConfigError, DataError
from masker.labels import class_indices
from masker.metrics.intervals import RESAMPLES, Interval, bootstrap
from masker.metrics.vectors import FloatArray, IntArray, as_vector, check_same_length

BINS = 15


def accuracy(true: Sequence[str] | IntArray, predicted: Sequence[str] | IntArray) -> float:
    r"""The share of rows with the right label.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} [\hat{y}_i = y_i]
    """
    check_same_length(true=true, predicted=predicted)
    return float(sum(t == p for t, p in zip(true, predicted, strict=True)) / len(true))


def macro_f1(true: Sequence[str], predicted: Sequence[str], classes: Sequence[str]) -> float:
    r"""The unweighted mean over classes of the F1 score.

    .. math:: \frac{1}{|S|} \sum_{c \in S} \frac{2 \, TP_c}{2 \, TP_c + FP_c + FN_c}

    ``S`` holds the classes that occur among the true or the predicted labels; a class in neither is left out rather
    than counted as 0 or as 1. A class that is only predicted, or always missed, counts as 0.

    Raises:
        DataError: A label is not among ``classes``.
    """
    check_same_length(true=true, predicted=predicted)
    true_codes, predicted_codes = _encode(true, predicted, classes)
    return _macro_f1(true_codes, predicted_codes, len(classes))


def expected_calibration_error(confidence: npt.ArrayLike, correct: npt.ArrayLike, bins: int = BINS) -> float:
    r"""The mean gap between confidence and accuracy. 0 is perfect calibration.

    .. math:: \mathrm{ECE} = \sum_{b=1}^{B} \frac{|I_b|}{n}
              \left| \frac{1}{|I_b|} \sum_{i \in I_b} [\hat{y}_i = y_i]
              - \frac{1}{|I_b|} \sum_{i \in I_b} \hat{p}_i \right|

    with ``B`` bins of equal width; bin :math:`b` holds the rows with confidence in
    :math:`\left( \frac{b-1}{B}, \frac{b}{B} \right]`; confidence 0 goes to the first bin. Empty bins add nothing.
    Guo et al., *On Calibration of Modern Neural Networks*, 2017, section 2; not in the paper.

    Args:
        confidence: Probability of the predicted label, in [0, 1]; rounding errors of up to 1e-6 are clipped.
        correct: Whether each prediction is right (booleans, or 0 and 1).
        bins: Number of bins ``B``.

    Raises:
        ConfigError: ``bins`` is below 1.
        DataError: A value is out of range.
    """
    probability, hits = _as_probability(confidence), as_vector(correct, "correct", finite=True)
    check_same_length(confidence=probability, correct=hits)
    not_boolean = hits[(hits != 0.0) & (hits != 1.0)]
    if not_boolean.size:
        raise DataError(f"correct must hold booleans, or 0 and 1; received {not_boolean[0]:g}. Pass predicted == true.")
    return _calibration_error(probability, hits, _bin_numbers(probability, bins), bins)


def classification_report(
    true: Sequence[str],
    predicted: Sequence[str],
    confidence: npt.ArrayLike,
    classes: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, Interval]:
    """``accuracy``, ``macro_f1`` and ``ece``, each with a 95 % bootstrap interval.

    All three share the resamples. A resample without any row of a class averages F1 over the others.

    Raises:
        ConfigError: ``resamples`` or ``seed`` is out of range.
        DataError: A label is not among ``classes`` (such rows belong in an OOD file), or a confidence, the probability
            of the predicted label, is outside [0, 1].
    """
    probability = _as_probability(confidence)
    check_same_length(true=true, predicted=predicted, confidence=probability)
    true_codes, predicted_codes = _encode(true, predicted, classes)
    correct = (true_codes == predicted_codes).astype(np.float64)
    bin_numbers = _bin_numbers(probability, BINS)

    def f1(rows: IntArray) -> float:
        return _macro_f1(true_codes[rows], predicted_codes[rows], len(classes))

    def ece(rows: IntArray) -> float:
        return _calibration_error(probability[rows], correct[rows], bin_numbers[rows], BINS)

    statistics = {"accuracy": lambda rows: float(correct[rows].mean()), "macro_f1": f1, "ece": ece}
    return {
        name: bootstrap(statistic, len(true), resamples=resamples, seed=seed) for name, statistic in statistics.items()
    }


def _macro_f1(true_codes: IntArray, predicted_codes: IntArray, class_count: int) -> float:
    hits = np.bincount(true_codes[true_codes == predicted_codes], minlength=class_count)
    # 2 TP + FP + FN = times the class is true + times it is predicted
    mentions = np.bincount(true_codes, minlength=class_count) + np.bincount(predicted_codes, minlength=class_count)
    present = mentions > 0
    return float(np.mean(2.0 * hits[present] / mentions[present]))


def _calibration_error(confidence: FloatArray, correct: FloatArray, bin_numbers: IntArray, bins: int) -> float:
    # |I_b| / n * |mean - mean| = |sum - sum| / n
    surplus = np.bincount(bin_numbers, weights=correct - confidence, minlength=bins)
    return float(np.abs(surplus).sum()) / confidence.size


def _bin_numbers(confidence: FloatArray, bins: int) -> IntArray:
    if bins < 1:
        raise ConfigError(f"bins must be at least 1; received {bins}. Use 15, the usual number.")
    inner_edges = np.arange(1, bins) / bins
    return np.searchsorted(inner_edges, confidence, side="left").astype(np.int64)


def _as_probability(confidence: npt.ArrayLike) -> FloatArray:
    vector = as_vector(confidence, "confidence", finite=True)
    beyond = (vector < -1e-6) | (vector > 1.0 + 1e-6)
    if beyond.any():
        raise DataError(
            f"confidence must lie in [0, 1]; received {vector[beyond][0]:g} at position {int(beyond.argmax())}. "
            "Pass the probability of the predicted label, not a logit."
        )
    return np.clip(vector, 0.0, 1.0)


def _encode(true: Sequence[str], predicted: Sequence[str], classes: Sequence[str]) -> tuple[IntArray, IntArray]:
    known = set(classes)
    if len(known) != len(classes):
        repeated = {label for label in classes if list(classes).count(label) > 1}
        raise DataError(f"classes must be distinct; received more than once: {_listing(repeated)}. Drop the repeats.")
    unknown = set(true) - known
    if unknown:
        rows = sum(label in unknown for label in true)
        raise DataError(
            f"true labels must be among the model's {len(known)} classes; received {rows} rows labelled "
            f"{_listing(unknown)}. Texts of other classes are out-of-distribution: pass them with --ood."
        )
    unknown = set(predicted) - known
    if unknown:
        raise DataError(
            f"predicted labels must be among the model's {len(known)} classes; received {_listing(unknown)}. "
            "Pass the model's classes, and its labels before any rejection."
        )
    return class_indices(true, classes), class_indices(predicted, classes)


def _listing(labels: Iterable[str], most: int = 5) -> str:
    names = sorted(repr(str(label)) if isinstance(label, str) else repr(label) for label in labels)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
