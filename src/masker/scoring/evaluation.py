"""Figures for a trained classifier, from cached outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.metrics import Interval, classification_report, detection_report, regression_report

Floats = npt.NDArray[np.float64]


def evaluate_classification(
    probabilities: Floats,
    scores: Floats,
    labels: Sequence[str],
    classes: Sequence[str],
    threshold: float,
    ood_scores: dict[str, Floats],
    *,
    resamples: int,
    seed: int,
) -> dict[str, Any]:
    """Classification figures on the test set and detection figures against each out-of-distribution set.

    Args:
        probabilities: (N, C) class probabilities of the test documents.
        scores: (N,) their out-of-distribution scores, by any score.
        labels: Their true classes.
        classes: Class names in the order of the columns.
        threshold: Score above which a document is rejected.
        ood_scores: Scores of each out-of-distribution set, by name.
        resamples: Bootstrap resamples behind each interval.
        seed: Seed of the resampling.

    Returns:
        A JSON-ready report; each figure is ``{"value", "low", "high"}`` with a 95 % interval.
    """
    predicted = [classes[index] for index in probabilities.argmax(axis=1)]
    report: dict[str, Any] = {
        "classification": _plain(
            classification_report(labels, predicted, probabilities.max(axis=1), classes, resamples=resamples, seed=seed)
        ),
        "threshold": threshold,
        "rejected": float((scores > threshold).mean()),
        "ood": {},
    }
    for name, values in ood_scores.items():
        report["ood"][name] = {
            "documents": len(values),
            "rejected": float((values > threshold).mean()),
            **_plain(detection_report(scores, values, resamples=resamples, seed=seed)),
        }
    return report


def evaluate_regression(
    doc_logits: npt.NDArray[np.float32], labels: Sequence[float], *, resamples: int, seed: int
) -> dict[str, Any]:
    """Pearson and Spearman correlation and squared error, each with an interval."""
    predicted = doc_logits[:, 0].astype(np.float64)
    figures = regression_report(np.asarray(labels, dtype=np.float64), predicted, resamples=resamples, seed=seed)
    return {"regression": _plain(figures)}


def _plain(figures: dict[str, Interval]) -> dict[str, dict[str, float]]:
    return {name: interval.as_dict() for name, interval in figures.items()}
