"""Figures for a trained classifier, from cached logits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.config import Head
from masker.metrics import Interval, classification_report, detection_report, regression_report
from masker.scoring.max_probability import class_probabilities, max_probability_score

Logits = npt.NDArray[np.float32]


def evaluate_classification(
    doc_logits: Logits,
    labels: Sequence[str],
    classes: Sequence[str],
    head: Head,
    threshold: float,
    ood_logits: dict[str, Logits],
    *,
    resamples: int,
    seed: int,
) -> dict[str, Any]:
    """Classification figures on the test set and detection figures against each out-of-distribution set.

    Args:
        doc_logits: (N, C) logits of the test documents.
        labels: Their true classes.
        classes: Class names in the order of the logits.
        head: ``one-vs-rest`` or ``multi-class``.
        threshold: Score above which a document is rejected.
        ood_logits: Logits of each out-of-distribution set, by name.
        resamples: Bootstrap resamples behind each interval.
        seed: Seed of the resampling.

    Returns:
        A JSON-ready report; each figure is ``{"value", "low", "high"}`` with a 95 % interval.
    """
    probabilities = class_probabilities(doc_logits, head)
    predicted = [classes[index] for index in doc_logits.argmax(axis=1)]
    scores = max_probability_score(doc_logits, head)
    report: dict[str, Any] = {
        "classification": _plain(
            classification_report(labels, predicted, probabilities.max(axis=1), classes, resamples=resamples, seed=seed)
        ),
        "threshold": threshold,
        "rejected": float((scores > threshold).mean()),
        "ood": {},
    }
    for name, logits in ood_logits.items():
        ood_scores = max_probability_score(logits, head)
        report["ood"][name] = {
            "documents": len(ood_scores),
            "rejected": float((ood_scores > threshold).mean()),
            **_plain(detection_report(scores, ood_scores, resamples=resamples, seed=seed)),
        }
    return report


def evaluate_regression(doc_logits: Logits, labels: Sequence[float], *, resamples: int, seed: int) -> dict[str, Any]:
    """Pearson and Spearman correlation and squared error, each with an interval."""
    predicted = doc_logits[:, 0].astype(np.float64)
    figures = regression_report(np.asarray(labels, dtype=np.float64), predicted, resamples=resamples, seed=seed)
    return {"regression": _plain(figures)}


def _plain(figures: dict[str, Interval]) -> dict[str, dict[str, float]]:
    return {name: interval.as_dict() for name, interval in figures.items()}
