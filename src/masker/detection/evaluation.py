"""Figures for a trained classifier, from cached outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.detection.calibration import Calibration
from masker.detection.detector import Judgement
from masker.metrics import (
    Interval,
    binomial_interval,
    classification_report,
    detection_report,
    expected_calibration_error,
    regression_report,
    selective_report,
)

#: Most points of a risk-coverage curve in a report.
CURVE_POINTS = 100


def evaluate_classification(
    test: Judgement,
    labels: Sequence[str],
    classes: Sequence[str],
    calibration: Calibration,
    ood: dict[str, Judgement],
    *,
    separate: bool = True,
    temperature: float = 1.0,
    resamples: int,
    seed: int,
) -> dict[str, Any]:
    """Classification figures on the test set and detection figures against each out-of-distribution set.

    Args:
        test: What the detector says of the test documents.
        labels: Their true classes.
        classes: Class names in the order of the columns.
        calibration: The decision rule.
        ood: What it says of each out-of-distribution set, by name.
        separate: Whether the documents that it was calibrated on had no other use.
        temperature: What logits were divided by for the confidence.
        resamples: Bootstrap resamples behind each interval.
        seed: Seed of the resampling.

    Returns:
        A JSON-ready report; each figure is ``{"value", "low", "high"}`` with a 95 % interval.
    """
    best = test.predicted
    predicted = [classes[index] for index in best]
    confidence = test.probabilities.max(axis=1)
    report: dict[str, Any] = {
        "classification": _plain(
            classification_report(labels, predicted, confidence, classes, resamples=resamples, seed=seed)
        ),
        "threshold": calibration.threshold,
        "rejected": float(test.rejected.mean()),
        "false_alarms": _false_alarms(test, best, classes, calibration, separate),
        "confidence": {},
        "selective": {},
        "ood": {},
    }
    wrong = np.array([told != true for told, true in zip(predicted, labels, strict=True)])
    report["confidence"] = {
        "temperature": temperature,
        "ece_before": expected_calibration_error(test.raw_confidence, ~wrong),
        "ece_after": expected_calibration_error(confidence, ~wrong),
    }
    for name, doubt in {"confidence": -confidence, "ood_score": test.scores}.items():
        area, curve = selective_report(doubt, wrong, resamples=resamples, seed=seed)
        report["selective"][name] = {"aurc": area.as_dict(), "curve": curve.thinned(CURVE_POINTS)}
    for name, judged in ood.items():
        report["ood"][name] = {
            "documents": len(judged.scores),
            "rejected": float(judged.rejected.mean()),
            **_plain(detection_report(test.scores, judged.scores, resamples=resamples, seed=seed)),
        }
    return report


def _false_alarms(
    test: Judgement, predicted: npt.NDArray[np.int64], classes: Sequence[str], calibration: Calibration, separate: bool
) -> dict[str, Any]:
    """The rate that was promised and the one that the test documents show, with its exact interval."""
    report: dict[str, Any] = {
        "asked": calibration.false_alarm_rate,
        "promised": calibration.promised,
        "held_out": len(calibration.scores),
        "separate": separate,
        "realised": _share(test.rejected),
    }
    if calibration.by_class.any():
        report["by_predicted_class"] = {
            name: _share(test.rejected[predicted == label])
            for label, name in enumerate(classes)
            if (predicted == label).any()
        }
    return report


def _share(hits: npt.NDArray[np.bool_]) -> dict[str, float]:
    return binomial_interval(int(hits.sum()), len(hits)).as_dict()


def evaluate_regression(
    doc_logits: npt.NDArray[np.float32], labels: Sequence[float], *, resamples: int, seed: int
) -> dict[str, Any]:
    """Pearson and Spearman correlation and squared error, each with an interval."""
    predicted = doc_logits[:, 0].astype(np.float64)
    figures = regression_report(np.asarray(labels, dtype=np.float64), predicted, resamples=resamples, seed=seed)
    return {"regression": _plain(figures)}


def _plain(figures: dict[str, Interval]) -> dict[str, dict[str, float]]:
    return {name: interval.as_dict() for name, interval in figures.items()}
