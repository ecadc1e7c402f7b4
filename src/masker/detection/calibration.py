"""The decision rule: scores of held-out documents, and the thresholds that follow from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from masker.detection.arrays import Floats, Labels
from masker.detection.conformal import (
    conformal_p_values,
    conformal_threshold,
    least_documents,
    promised_rate,
    rate_interval,
)

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Calibration:
    """The decision rule of one score."""

    scores: Floats  # (n,) scores of held-out in-distribution documents
    predicted: Labels  # (n,) their predicted classes
    false_alarm_rate: float  # share of in-distribution documents that may be rejected
    thresholds: Floats  # (C,) score above which a document is rejected, by its predicted class
    by_class: Flags  # (C,) whether a class has a threshold of its own; the others share one
    external: bool = False  # thresholds were set from outside, so nothing is guaranteed
    confidence: float | None = None  # probability that this rule keeps the rate; None: it is kept on average
    apart: Flags | None = None  # (C,) classes that share a threshold among themselves, such as those added later

    @classmethod
    def fit(
        cls,
        scores: Floats,
        predicted: Labels,
        n_classes: int,
        false_alarm_rate: float,
        *,
        class_conditional: bool,
        confidence: float | None = None,
        apart: Flags | None = None,
    ) -> Calibration:
        """Set conformal thresholds; without held-out documents, thresholds that reject nothing and promise nothing.

        ``class_conditional`` keeps the guarantee within each predicted class that has enough held-out documents, and
        within all other classes together. (If these used the threshold of all documents, the false alarms of the large
        classes would be spent twice.) A ``confidence`` then holds for each of these groups, not for all at once.

        Classes that are ``apart`` keep it among themselves, if they have enough held-out documents together.
        """
        by_class = np.zeros(n_classes, dtype=bool)
        if not len(scores):
            unreached = np.full(n_classes, np.inf)
            return cls(scores, predicted, false_alarm_rate, unreached, by_class, external=True, confidence=confidence)
        enough = max(1, least_documents(false_alarm_rate, confidence))
        if class_conditional:
            by_class = np.bincount(predicted, minlength=n_classes) >= enough
        if apart is not None and np.isin(predicted, np.flatnonzero(apart & ~by_class)).sum() < enough:
            apart = None
        rule = cls(
            scores, predicted, false_alarm_rate, np.empty(n_classes), by_class, confidence=confidence, apart=apart
        )
        for labels, members in rule._groups():
            rule.thresholds[labels] = conformal_threshold(scores[members], false_alarm_rate, confidence)
        return rule

    def _groups(self) -> Iterator[tuple[Flags, Flags]]:
        """Disjoint groups of classes (C,) with a common threshold, and the held-out documents (n,) behind it."""
        for label in np.flatnonzero(self.by_class):
            yield np.arange(len(self.by_class)) == label, self.predicted == label
        apart = np.zeros_like(self.by_class) if self.apart is None else self.apart
        for side in (False, True):
            shared = ~self.by_class & (apart == side)
            if shared.any():
                rest = shared[self.predicted]
                # If no held-out document is of these classes, all documents are the best guess.
                yield shared, rest if rest.any() else np.ones_like(rest)

    def with_threshold(self, threshold: float) -> Calibration:
        """Replace the thresholds by one from outside, such as that of a published rule."""
        thresholds, by_class = np.full_like(self.thresholds, threshold), np.zeros_like(self.by_class)
        return replace(self, thresholds=thresholds, by_class=by_class, external=True, apart=None)

    @property
    def threshold(self) -> float:
        """The threshold that classes share; the highest one if there are several."""
        shared = self.thresholds[~self.by_class]
        return float((shared if len(shared) else self.thresholds).max())

    @property
    def finite_threshold(self) -> float | None:
        """The threshold; ``None`` if it rejects nothing, because JSON has no infinity."""
        return self.threshold if np.isfinite(self.threshold) else None

    @property
    def promised(self) -> float | None:
        """The false-alarm rate that the held-out documents guarantee; ``None`` for a threshold from outside."""
        if self.external:
            return None
        return max(promised_rate(count, self.false_alarm_rate, self.confidence) for count in self._counts())

    @property
    def rate_interval(self) -> list[float] | None:
        """Ends of where the rule's own rate lies with 90 % probability; ``None`` for a threshold from outside.

        If classes have thresholds of their own, it covers the interval of each.
        """
        if self.external:
            return None
        lows, highs = zip(
            *(rate_interval(count, self.false_alarm_rate, self.confidence) for count in self._counts()), strict=True
        )
        return [min(lows), max(highs)]

    def _counts(self) -> list[int]:
        """The number of held-out documents behind each threshold."""
        return [int(members.sum()) for _, members in self._groups()]

    def rejects(self, scores: Floats, predicted: Labels) -> Flags:
        """(N,) whether documents with these scores and predicted classes are out-of-distribution."""
        return np.asarray(scores > self.thresholds[predicted])

    def p_values(self, scores: Floats, predicted: Labels) -> Floats:
        """(N,) conformal p-values among the held-out documents that share their threshold."""
        values = np.empty(len(scores))
        for labels, members in self._groups():
            here = labels[predicted]
            values[here] = conformal_p_values(scores[here], np.sort(self.scores[members]))
        return values
