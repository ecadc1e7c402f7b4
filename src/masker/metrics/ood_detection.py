"""How well a score separates out-of-distribution (OOD) from in-distribution (ID) texts.

Every metric is a pure function of two 1-D arrays, ``id_scores`` (shape ``(n,)``) and ``ood_scores`` (shape ``(m,)``).
A higher score means more OOD, and OOD is the positive class; :mod:`masker.metrics.roc` defines TP, FP and the rates.
Only the order of the scores matters: a strictly increasing map changes nothing.

All metrics raise :class:`~masker.errors.DataError` if an array is empty, not one-dimensional or contains NaN.

Paper: appendix, "Evaluation Metrics" (AUROC, EER, detection accuracy, TNR at TPR 80 %). AUPR and FPR at TPR 95 % are
not in the paper; later work on OOD detection reports them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from masker.errors import ConfigError
from masker.metrics.intervals import RESAMPLES, Interval, percentile_interval, resampling_generator
from masker.metrics.roc import RankedScores, RocCurve, roc_curve


def auroc(id_scores: npt.ArrayLike, ood_scores: npt.ArrayLike) -> float:
    r"""Area under the ROC curve.

    .. math:: \mathrm{AUROC} = P(s_{ood} > s_{id}) + \tfrac{1}{2} P(s_{ood} = s_{id})

    over all :math:`n m` pairs, the trapezoid area under TPR against FPR; a tie counts half. 1 is perfect separation,
    0.5 is chance. Paper: appendix, "Evaluation Metrics", first item. No deviation.
    """
    return _auroc(roc_curve(id_scores, ood_scores))


def aupr(id_scores: npt.ArrayLike, ood_scores: npt.ArrayLike) -> float:
    r"""Area under the precision-recall curve, as average precision, with OOD as the positive class.

    .. math:: \mathrm{AP} = \sum_k (R_k - R_{k-1}) \, P_k, \qquad
              P_k = \frac{TP_k}{TP_k + FP_k}, \quad R_k = \frac{TP_k}{m}

    over the distinct thresholds :math:`k`, highest first. A step sum: trapezoids would be optimistic. Chance level is
    the share of OOD texts, :math:`m / (n + m)`. Not in the paper.
    """
    return _aupr(roc_curve(id_scores, ood_scores))


def eer(id_scores: npt.ArrayLike, ood_scores: npt.ArrayLike) -> float:
    r"""Equal error rate: the error where FPR = FNR. Lower is better.

    With :math:`d_k = FPR_k - FNR_k`, which rises from -1 to 1 along the curve, take the first point :math:`k` with
    :math:`d_k \ge 0` and interpolate linearly from the point before it:

    .. math:: \mathrm{EER} = FPR_{k-1} + t \, (FPR_k - FPR_{k-1}), \qquad t = \frac{-d_{k-1}}{d_k - d_{k-1}}

    If the rates are equal at some threshold, :math:`t = 1` and the result is that rate.

    Paper: appendix, "Evaluation Metrics", second item. Deviation: a finite sample rarely has a threshold where the
    rates are exactly equal, and the paper does not say what to do then; the interpolation is ours.
    """
    return _eer(roc_curve(id_scores, ood_scores))


def detection_accuracy(id_scores: npt.ArrayLike, ood_scores: npt.ArrayLike) -> float:
    r"""The best accuracy of any single threshold at separating OOD from ID.

    .. math:: \max_k \frac{TP_k + (n - FP_k)}{n + m}

    Every text weighs the same, so the value is at least :math:`\max(n, m) / (n + m)`: flagging nothing and flagging
    everything are thresholds too. The threshold is chosen on the measured data, so the value is slightly optimistic.

    Paper: appendix, "Evaluation Metrics", third item. Deviation: the paper does not give the class weights; some works
    weigh ID and OOD equally, which agrees with this only when n = m.
    """
    return _detection_accuracy(roc_curve(id_scores, ood_scores))


def tnr_at_tpr(id_scores: npt.ArrayLike, ood_scores: npt.ArrayLike, tpr: float = 0.80) -> float:
    r"""The share of ID texts accepted while at least ``tpr`` of the OOD texts are caught.

    .. math:: \max \{\, 1 - FPR_k : TPR_k \ge \mathrm{tpr} \,\}

    Paper: appendix, "Evaluation Metrics", fourth item, with tpr = 80 %. Deviation: a finite sample may have no
    threshold with TPR exactly ``tpr``; we take the best one that reaches it, without interpolation, so a real threshold
    attains the value.

    Raises:
        ConfigError: ``tpr`` is not in (0, 1].
    """
    return _tnr_at_tpr(roc_curve(id_scores, ood_scores), tpr)


def fpr_at_tpr(id_scores: npt.ArrayLike, ood_scores: npt.ArrayLike, tpr: float = 0.95) -> float:
    r"""The share of ID texts flagged by mistake while at least ``tpr`` of the OOD texts are caught. Lower is better.

    .. math:: \min \{\, FPR_k : TPR_k \ge \mathrm{tpr} \,\}

    One minus :func:`tnr_at_tpr` at the same ``tpr``; no interpolation. Not in the paper.

    Raises:
        ConfigError: ``tpr`` is not in (0, 1].
    """
    return _fpr_at_tpr(roc_curve(id_scores, ood_scores), tpr)


def detection_report(
    id_scores: npt.ArrayLike, ood_scores: npt.ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Interval]:
    """Every detection metric with a 95 % bootstrap interval.

    The bootstrap is stratified: ID and OOD texts are resampled separately, each to its own size. All metrics share the
    resamples: ``auroc``, ``eer``, ``detection_accuracy``, ``tnr_at_tpr80``, ``aupr`` and ``fpr_at_tpr95``.

    Raises:
        ConfigError: ``resamples`` or ``seed`` is out of range.
    """
    generator = resampling_generator(resamples=resamples, seed=seed)
    ranked = RankedScores.of(id_scores, ood_scores)
    n, m = ranked.id_ranks.size, ranked.ood_ranks.size
    samples = np.empty((len(_REPORTED), resamples))
    for draw in range(resamples):
        curve = ranked.curve(generator.integers(0, n, size=n), generator.integers(0, m, size=m))
        samples[:, draw] = [metric(curve) for metric in _REPORTED.values()]
    full = ranked.curve()
    return {
        name: percentile_interval(metric(full), samples[row]) for row, (name, metric) in enumerate(_REPORTED.items())
    }


def _auroc(curve: RocCurve) -> float:
    fp, tp = curve.false_positives, curve.true_positives
    twice_area = int(np.dot(np.diff(fp), tp[1:] + tp[:-1]))  # integers: exact
    return twice_area / (2 * curve.id_count * curve.ood_count)


def _aupr(curve: RocCurve) -> float:
    fp, tp = curve.false_positives[1:], curve.true_positives[1:]
    flagged = np.maximum(tp + fp, 1)  # a resample may flag nothing at the highest thresholds; tp is 0 there
    return float(np.dot(np.diff(curve.true_positives), tp / flagged)) / curve.ood_count


def _eer(curve: RocCurve) -> float:
    fp, tp, n, m = curve.false_positives, curve.true_positives, curve.id_count, curve.ood_count
    gap = fp * m + tp * n - n * m  # n * m * (FPR - FNR), in integers
    k = int(np.searchsorted(gap, 0, side="left"))  # at least 1: the curve starts at gap = -n * m
    share = -int(gap[k - 1]) / int(gap[k] - gap[k - 1])
    return (int(fp[k - 1]) + share * int(fp[k] - fp[k - 1])) / n


def _detection_accuracy(curve: RocCurve) -> float:
    n, m = curve.id_count, curve.ood_count
    return (n + int((curve.true_positives - curve.false_positives).max())) / (n + m)


def _tnr_at_tpr(curve: RocCurve, tpr: float) -> float:
    return (curve.id_count - _fewest_false_positives(curve, tpr)) / curve.id_count


def _fpr_at_tpr(curve: RocCurve, tpr: float) -> float:
    return _fewest_false_positives(curve, tpr) / curve.id_count


def _fewest_false_positives(curve: RocCurve, tpr: float) -> int:
    if not 0.0 < tpr <= 1.0:
        raise ConfigError(f"tpr must be in (0, 1]; received {tpr}. Use 0.80 for a true positive rate of 80 %.")
    return int(curve.false_positives[np.searchsorted(curve.tpr, tpr, side="left")])


_REPORTED: dict[str, Callable[[RocCurve], float]] = {
    "auroc": _auroc,
    "eer": _eer,
    "detection_accuracy": _detection_accuracy,
    "tnr_at_tpr80": partial(_tnr_at_tpr, tpr=0.80),
    "aupr": _aupr,
    "fpr_at_tpr95": partial(_fpr_at_tpr, tpr=0.95),
}
