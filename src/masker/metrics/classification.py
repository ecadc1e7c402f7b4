"""How well a classifier names the class of in-distribution texts, and whether its confidence can be believed.

Paper: classification accuracy stands beside the detection metrics in its tables (it must not drop). Macro F1 and the
calibration error are not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from masker.errors import ConfigError, DataError
from masker.metrics.intervals import LEVEL, RESAMPLES, Interval, bootstrap
from masker.metrics.vectors import FloatArray, IntArray, as_vector, check_same_length

BINS = 15


def accuracy(true: Sequence[str] | IntArray, predicted: Sequence[str] | IntArray) -> float:
    r"""The share of rows whose predicted label is the true one.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} [\hat{y}_i = y_i]

    Raises:
        DataError: The columns differ in length or are empty.
    """
    check_same_length(true=true, predicted=predicted)
    return float(sum(t == p for t, p in zip(true, predicted, strict=True)) / len(true))


def macro_f1(true: Sequence[str], predicted: Sequence[str], classes: Sequence[str]) -> float:
    r"""The unweighted mean over classes of the F1 score.

    .. math:: \frac{1}{|S|} \sum_{c \in S} \frac{2 \, TP_c}{2 \, TP_c + FP_c + FN_c}

    ``S`` holds the classes that occur among the true or the predicted labels. A class in neither has no errors and no
    successes; it is left out rather than counted as 0 or as 1. A class that is only ever predicted, or only ever
    missed, counts as 0.

    Raises:
        DataError: The columns differ in length or are empty, or a label is not among ``classes``.
    """
    check_same_length(true=true, predicted=predicted)
    true_codes, predicted_codes = _encode(true, predicted, classes)
    return _macro_f1(true_codes, predicted_codes, len(classes))


def expected_calibration_error(confidence: npt.ArrayLike, correct: npt.ArrayLike, bins: int = BINS) -> float:
    r"""How far confidence is from accuracy, on average. 0 is perfectly calibrated.

    .. math:: \mathrm{ECE} = \sum_{b=1}^{B} \frac{|I_b|}{n}
              \left| \frac{1}{|I_b|} \sum_{i \in I_b} [\hat{y}_i = y_i]
              - \frac{1}{|I_b|} \sum_{i \in I_b} \hat{p}_i \right|

    with ``B`` bins of equal width; bin :math:`b` holds the rows with confidence in
    :math:`\left( \frac{b-1}{B}, \frac{b}{B} \right]`, and confidence 0 goes to the first. Empty bins add nothing.
    Guo et al., *On Calibration of Modern Neural Networks*, 2017, section 2; not in the paper.

    Args:
        confidence: Probability given to the predicted label, in [0, 1] (rounding of 1e-6 beyond is taken as the end).
        correct: For each row, whether the prediction was right (booleans, or 0 and 1).
        bins: Number of bins ``B``.

    Raises:
        ConfigError: ``bins`` is below 1.
        DataError: The columns differ in length, are empty, or hold values out of range.
    """
    confidence_vector = _as_probability(confidence)
    correct_vector = as_vector(correct, "correct", finite=True)
    check_same_length(confidence=confidence_vector, correct=correct_vector)
    wrong_kind = correct_vector[(correct_vector != 0.0) & (correct_vector != 1.0)]
    if wrong_kind.size:
        raise DataError(f"correct must hold booleans, or 0 and 1; received {wrong_kind[0]:g}. Pass predicted == true.")
    return _calibration_error(confidence_vector, correct_vector, _bin_numbers(confidence_vector, bins), bins)


def classification_report(
    true: Sequence[str],
    predicted: Sequence[str],
    confidence: npt.ArrayLike,
    classes: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
    bins: int = BINS,
) -> dict[str, Interval]:
    """Compute accuracy, macro F1 and calibration error, each with a percentile bootstrap interval.

    All three share the resamples. A resample that misses a class entirely averages F1 over the classes it has.

    Args:
        true: True labels, one per row.
        predicted: Predicted labels, one per row.
        confidence: Probability given to the predicted label, one per row.
        classes: The labels the model knows.
        resamples: How many times to draw.
        seed: Seed of the draws.
        level: Share of the resampled values inside each interval.
        bins: Number of bins of the calibration error.

    Returns:
        ``accuracy``, ``macro_f1`` and ``ece``.

    Raises:
        ConfigError: A setting is out of range.
        DataError: The columns differ in length or are empty, a label is not among ``classes`` (such rows belong in an
            OOD file), or a confidence is outside [0, 1].
    """
    probability = _as_probability(confidence)
    check_same_length(true=true, predicted=predicted, confidence=probability)
    true_codes, predicted_codes = _encode(true, predicted, classes)
    correct = (true_codes == predicted_codes).astype(np.float64)
    bin_numbers = _bin_numbers(probability, bins)

    def f1(rows: IntArray) -> float:
        return _macro_f1(true_codes[rows], predicted_codes[rows], len(classes))

    def ece(rows: IntArray) -> float:
        return _calibration_error(probability[rows], correct[rows], bin_numbers[rows], bins)

    statistics = {"accuracy": lambda rows: float(correct[rows].mean()), "macro_f1": f1, "ece": ece}
    return {
        name: bootstrap(statistic, len(true), resamples=resamples, seed=seed, level=level)
        for name, statistic in statistics.items()
    }


def _macro_f1(true_codes: IntArray, predicted_codes: IntArray, class_count: int) -> float:
    hits = np.bincount(true_codes[true_codes == predicted_codes], minlength=class_count)
    # 2 TP + FP + FN is how often a class is true plus how often it is predicted
    mentions = np.bincount(true_codes, minlength=class_count) + np.bincount(predicted_codes, minlength=class_count)
    present = mentions > 0
    return float(np.mean(2.0 * hits[present] / mentions[present]))


def _calibration_error(confidence: FloatArray, correct: FloatArray, bin_numbers: IntArray, bins: int) -> float:
    # |I_b| / n * |mean - mean| is |sum - sum| / n
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
    codes = {label: code for code, label in enumerate(classes)}
    if len(codes) != len(classes):
        repeated = {label for label in classes if list(classes).count(label) > 1}
        raise DataError(f"classes must be distinct; received more than once: {_listing(repeated)}. Drop the repeats.")
    unknown = set(true) - codes.keys()
    if unknown:
        rows = sum(label in unknown for label in true)
        raise DataError(
            f"true labels must be among the model's {len(codes)} classes; received {rows} rows labelled "
            f"{_listing(unknown)}. Rows of classes the model never saw are out-of-distribution: pass them with --ood."
        )
    unknown = set(predicted) - codes.keys()
    if unknown:
        raise DataError(
            f"predicted labels must be among the model's {len(codes)} classes; received {_listing(unknown)}. "
            "Pass the model's own labels as classes, and its labels before any rejection."
        )
    return (
        np.fromiter((codes[label] for label in true), dtype=np.int64, count=len(true)),
        np.fromiter((codes[label] for label in predicted), dtype=np.int64, count=len(predicted)),
    )


def _listing(labels: Iterable[str], most: int = 5) -> str:
    names = sorted(repr(str(label)) if isinstance(label, str) else repr(label) for label in labels)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
