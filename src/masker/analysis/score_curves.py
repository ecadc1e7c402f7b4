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
CURVE_POINTS = 200


def score_histogram(sets: Mapping[str, Floats], rule: Calibration) -> ScoreHistogram | None:
    """Bins that all sets share, with the threshold within their range; ``None`` without a finite score."""
    pooled = np.concatenate(list(sets.values()))
    pooled = pooled[np.isfinite(pooled)]
    if not len(pooled):
        return None
    ends = np.array([np.quantile(scores[np.isfinite(scores)], SHOWN) for scores in sets.values() if len(scores)])
    low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
    if np.isfinite(rule.threshold):
        low, high = min(low, rule.threshold), max(high, rule.threshold)
    margin = 0.02 * (high - low) or 0.5
    edges = np.linspace(low - margin, high + margin, HISTOGRAM_BINS + 1)
    counts = {name: np.histogram(np.clip(scores, edges[0], edges[-1]), edges)[0] for name, scores in sets.items()}
    return ScoreHistogram(
        [float(f"{edge:.6g}") for edge in edges],
        {name: column.tolist() for name, column in counts.items()},
        rule.threshold,
        bool(rule.by_class.any()),
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
