"""The scores of held-out documents as a histogram: what a page may show without showing a text."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from masker.detection.detector import Detector

#: The share of the held-out documents that the bars cover at least; a few far ones would squeeze the others together.
_COVERED = 0.98
_BINS = (8, 40)


@dataclass(frozen=True)
class HeldOutScores:
    """Out-of-distribution scores of held-out documents.

    Attributes:
        documents: Their number.
        edges: (B + 1,) ends of the bins.
        counts: (B,) documents in each.
        beyond: Documents with a higher score than the last edge.
        thresholds: (C,) score above which a text is rejected, by its predicted class; ``None`` if none is.
    """

    documents: int
    edges: list[float]
    counts: list[int]
    beyond: int
    thresholds: list[float | None]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def held_out_scores(detector: Detector) -> HeldOutScores:
    """The histogram of a detector's score, wide enough to show its thresholds."""
    calibration = detector.calibration
    scores = calibration.scores[np.isfinite(calibration.scores)]
    limits = calibration.thresholds[np.isfinite(calibration.thresholds)]
    thresholds = [float(one) if np.isfinite(one) else None for one in calibration.thresholds]
    if not len(scores):
        return HeldOutScores(len(calibration.scores), [0.0, 1.0], [0], 0, thresholds)
    low = float(scores.min())
    high = max(float(np.quantile(scores, _COVERED, method="higher")), float(limits.max(initial=low)))
    if high <= low:
        low, high = low - 0.5, high + 0.5
    bins = int(np.clip(np.ceil(2 * len(scores) ** (1 / 3)), *_BINS))  # Rice's rule
    counts, edges = np.histogram(scores, bins, (low, high))
    beyond = len(calibration.scores) - int(counts.sum())
    return HeldOutScores(len(calibration.scores), edges.tolist(), counts.tolist(), beyond, thresholds)
