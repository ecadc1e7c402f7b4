"""The decision rule: what held-out documents scored, and the thresholds that follow from it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from masker.scoring.conformal import conformal_p_values, conformal_threshold, least_documents, promised_rate

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Calibration:
    """Held-out in-distribution documents, as seen by one score, and the rule made from them.

    Attributes:
        scores: (n,) their scores.
        predicted: (n,) the classes that the model predicts for them.
        false_alarm_rate: The share of in-distribution documents that may be rejected.
        thresholds: (C,) score above which a document is rejected, by its predicted class.
        by_class: (C,) whether a class has a threshold of its own; else the one of all documents together.
    """

    scores: Floats
    predicted: Labels
    false_alarm_rate: float
    thresholds: Floats
    by_class: npt.NDArray[np.bool_]

    @classmethod
    def fit(
        cls, scores: Floats, predicted: Labels, n_classes: int, false_alarm_rate: float, *, class_conditional: bool
    ) -> Calibration:
        """Conformal thresholds.

        Args:
            scores: (n,) of held-out documents.
            predicted: (n,) their predicted classes.
            n_classes: C.
            false_alarm_rate: α.
            class_conditional: Keep the promise within each predicted class that has enough held-out documents for it,
                and not only on the whole.
        """
        thresholds = np.full(n_classes, conformal_threshold(scores, false_alarm_rate))
        by_class = np.zeros(n_classes, dtype=bool)
        if class_conditional:
            by_class = np.bincount(predicted, minlength=n_classes) >= max(1, least_documents(false_alarm_rate))
            for label in np.flatnonzero(by_class):
                thresholds[label] = conformal_threshold(scores[predicted == label], false_alarm_rate)
        return cls(scores, predicted, false_alarm_rate, thresholds, by_class)

    def with_threshold(self, threshold: float) -> Calibration:
        """The same documents with one threshold from elsewhere, such as that of a published rule."""
        return replace(self, thresholds=np.full_like(self.thresholds, threshold), by_class=np.zeros_like(self.by_class))

    @property
    def threshold(self) -> float:
        """The threshold of classes that have none of their own; the highest where all have."""
        shared = self.thresholds[~self.by_class]
        return float(shared[0] if len(shared) else self.thresholds.max())

    @property
    def promised(self) -> float:
        """The rate of false alarms that the held-out documents can promise."""
        return promised_rate(len(self.scores), self.false_alarm_rate)

    def rejects(self, scores: Floats, predicted: Labels) -> npt.NDArray[np.bool_]:
        """(N,) whether documents with these scores and predicted classes are out-of-distribution."""
        return np.asarray(scores > self.thresholds[predicted])

    def p_values(self, scores: Floats, predicted: Labels) -> Floats:
        """(N,) conformal p-values, within the predicted class where that has a threshold of its own."""
        values = conformal_p_values(scores, np.sort(self.scores))
        for label in np.flatnonzero(self.by_class):
            members = predicted == label
            values[members] = conformal_p_values(scores[members], np.sort(self.scores[self.predicted == label]))
        return values
