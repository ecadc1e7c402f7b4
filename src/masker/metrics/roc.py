"""The ROC curve behind all detection metrics, as exact counts.

Sign convention throughout the package: a higher score means more out-of-distribution (OOD), and OOD is the positive
class. At threshold ``t`` every text with ``score >= t`` is flagged as OOD, so

* TP = flagged OOD texts, FP = flagged in-distribution (ID) texts,
* TPR = TP / (number of OOD texts), FPR = FP / (number of ID texts), TNR = 1 - FPR, FNR = 1 - TPR.

Paper: appendix, "Evaluation Metrics".

Deviation: the paper does not say which class is positive. For the other reading (ID positive) pass a metric
``(-ood_scores, -id_scores)``: AUROC, EER and detection accuracy do not change, the others do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from masker.metrics.vectors import FloatArray, IntArray, as_vector


@dataclass(frozen=True, eq=False)
class RocCurve:
    """One point per distinct score, from "flag nothing" to "flag everything"; all arrays have shape ``(K + 1,)``."""

    thresholds: FloatArray  # descending; the first is infinity, which flags nothing
    false_positives: IntArray  # ID texts flagged at each threshold, ascending from 0
    true_positives: IntArray  # OOD texts flagged at each threshold, ascending from 0

    @property
    def id_count(self) -> int:
        return int(self.false_positives[-1])

    @property
    def ood_count(self) -> int:
        return int(self.true_positives[-1])

    @property
    def fpr(self) -> FloatArray:
        return self.false_positives / self.id_count

    @property
    def tpr(self) -> FloatArray:
        return self.true_positives / self.ood_count


@dataclass(frozen=True, eq=False)
class RankedScores:
    """Two samples of scores, sorted together once.

    The rank of each text in the common order turns the curve of a resample into a count and a running sum, without
    another sort, which keeps the bootstrap cheap.
    """

    scores: FloatArray  # the K distinct scores, descending
    id_ranks: IntArray  # index of each ID text's score in `scores`
    ood_ranks: IntArray

    @classmethod
    def of(cls, id_scores: npt.ArrayLike, ood_scores: npt.ArrayLike) -> RankedScores:
        id_vector, ood_vector = as_vector(id_scores, "id_scores"), as_vector(ood_scores, "ood_scores")
        ascending, places = np.unique(np.concatenate([id_vector, ood_vector]), return_inverse=True)
        ranks = (ascending.size - 1 - places).astype(np.int64)
        return cls(ascending[::-1], ranks[: id_vector.size], ranks[id_vector.size :])

    def curve(self, id_rows: IntArray | None = None, ood_rows: IntArray | None = None) -> RocCurve:
        """The ROC curve of all texts, or of the given rows of each sample (repeats allowed).

        A threshold that no given row has repeats the point before it, which changes no metric.
        """
        id_ranks = self.id_ranks if id_rows is None else self.id_ranks[id_rows]
        ood_ranks = self.ood_ranks if ood_rows is None else self.ood_ranks[ood_rows]
        return RocCurve(
            thresholds=np.concatenate([[np.inf], self.scores]),
            false_positives=self._running_count(id_ranks),
            true_positives=self._running_count(ood_ranks),
        )

    def _running_count(self, ranks: IntArray) -> IntArray:
        counts = np.zeros(self.scores.size + 1, dtype=np.int64)
        np.cumsum(np.bincount(ranks, minlength=self.scores.size), out=counts[1:])
        return counts


def roc_curve(id_scores: npt.ArrayLike, ood_scores: npt.ArrayLike) -> RocCurve:
    """The ROC curve of a detector from its scores on ``(n,)`` ID and ``(m,)`` OOD texts.

    Raises:
        DataError: An array is empty, not one-dimensional, or contains NaN.
    """
    return RankedScores.of(id_scores, ood_scores).curve()
