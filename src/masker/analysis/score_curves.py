"""Scores of known and foreign documents: histograms around the threshold, and ROC curves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from masker.analysis.report_data import DetectionCurve, ScoreHistogram
from masker.detection.arrays import Floats
from masker.detection.calibration import Calibration
from masker.detection.detector import Judgement
from masker.metrics import roc_curve

HISTOGRAM_BINS = 40
#: Quantiles of the scores between which the bins lie: a few extreme scores would squeeze all others into one bin.
SHOWN = (0.005, 0.995)
#: The bins reach beyond the known documents and the threshold by at most this many times their range: foreign documents
#: can be very far away, and what matters happens near the threshold.
REACH = 2.0
CURVE_POINTS = 200


def score_histogram(sets: Mapping[str, Floats], rule: Calibration) -> ScoreHistogram | None:
    """Bins that all sets share, the first of which is the known one; ``None`` without a finite score."""
    finite = [scores[np.isfinite(scores)] for scores in sets.values()]
    ends = [np.quantile(scores, SHOWN) for scores in finite if len(scores)]
    if not ends:
        return None
    middle = [*ends[0], *([rule.threshold] if np.isfinite(rule.threshold) else [])]
    reach = REACH * (max(middle) - min(middle))
    low = max(min(middle) - reach, min(min(middle), *(pair[0] for pair in ends)))
    high = min(max(middle) + reach, max(max(middle), *(pair[1] for pair in ends)))
    margin = 0.02 * (high - low) or 0.5
    edges = np.linspace(low - margin, high + margin, HISTOGRAM_BINS + 1)
    counts = {name: np.histogram(np.clip(scores, edges[0], edges[-1]), edges)[0] for name, scores in sets.items()}
    return ScoreHistogram(
        [float(f"{edge:.6g}") for edge in edges],
        {name: column.tolist() for name, column in counts.items()},
        rule.threshold,
        bool(rule.by_class.any()) or rule.apart is not None,
    )


def detection_curve(known: Judgement, foreign: Judgement) -> DetectionCurve:
    """The ROC curve, thinned, and the shares that are rejected now."""
    curve = roc_curve(known.scores, foreign.scores)
    places = np.unique(np.linspace(0, len(curve.fpr) - 1, CURVE_POINTS).astype(np.int64))
    return DetectionCurve(
        [round(float(share), 5) for share in curve.fpr[places]],
        [round(float(share), 5) for share in curve.tpr[places]],
        (float(known.rejected.mean()), float(foreign.rejected.mean())),
    )
