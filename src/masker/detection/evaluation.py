"""The figures of a trained model, from what it says of test documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.detection.detector import Detector, Judgement
from masker.detection.scores.max_probability import class_probabilities
from masker.labels import class_indices, label_matrix
from masker.metrics import (
    Interval,
    binomial_interval,
    classification_report,
    detection_report,
    expected_calibration_error,
    label_set_report,
    label_table,
    open_set_report,
    regression_report,
    selective_report,
)

#: Maximal number of points of a risk-coverage curve in a report.
CURVE_POINTS = 100


@dataclass(frozen=True)
class Resampling:
    """How bootstrap intervals are computed."""

    resamples: int
    seed: int


def evaluate_classification(
    detector: Detector,
    classes: Sequence[str],
    test: Judgement,
    labels: Sequence[str],
    ood: Mapping[str, Judgement],
    resampling: Resampling,
) -> dict[str, Any]:
    """Classification figures on the test documents; detection and open-set figures for each out-of-distribution set.

    A JSON-ready report; each figure is ``{"value", "low", "high"}`` with a 95 % interval.
    """
    options = asdict(resampling)
    predicted = [classes[index] for index in test.predicted]
    confidence = test.probabilities.max(axis=1)
    figures = classification_report(labels, predicted, confidence, classes, **options)
    wrong = np.array([answer != true for answer, true in zip(predicted, labels, strict=True)])
    report: dict[str, Any] = {
        "score": detector.score.name,
        "classification": _plain(figures),
        "threshold": detector.calibration.threshold,
        "rejected": float(test.rejected.mean()),
        "false_alarms": _false_alarms(detector, classes, test),
        "confidence": {
            "temperature": detector.temperature,
            "ece_before": expected_calibration_error(test.raw_confidence, ~wrong),
            "ece_after": expected_calibration_error(confidence, ~wrong),
        },
        "selective": {},
        "ood": {},
    }
    for name, doubt in {"confidence": -confidence, "ood_score": test.scores}.items():
        area, curve = selective_report(doubt, wrong, **options)
        report["selective"][name] = {"aurc": area.as_dict(), "curve": curve.thinned(CURVE_POINTS)}
    for name, judged in ood.items():
        report["ood"][name] = {
            "documents": len(judged.scores),
            "rejected": float(judged.rejected.mean()),
            **_plain(detection_report(test.scores, judged.scores, **options)),
            "open_set": _open_set(class_indices(labels, classes), len(classes), test, judged, resampling),
        }
    return report


def evaluate_label_sets(
    detector: Detector,
    classes: Sequence[str],
    test: Judgement,
    labels: Sequence[Sequence[str]],
    ood: Mapping[str, Judgement],
    resampling: Resampling,
) -> dict[str, Any]:
    """Figures of the labels given to test documents, for each label too; detection figures for each foreign set.

    ``at_even_odds`` has the figures for labels of a probability above one half, which promises nothing.
    """
    rule = detector.label_rule
    assert rule is not None
    assert test.given is not None
    options = asdict(resampling)
    true = label_matrix(labels, classes)
    report: dict[str, Any] = {
        "score": detector.score.name,
        "label_sets": _plain(label_set_report(true, test.given, **options)),
        "at_even_odds": _plain(label_set_report(true, test.probabilities > 0.5, **options)),
        "missed": {"asked": rule.missed_rate, "promised": rule.promised, "held_out": rule.held_out},
        "none": {"true": float((true.sum(axis=1) == 0).mean()), "given": float((~test.given.any(axis=1)).mean())},
        "by_label": _with_thresholds(label_table(true, test.given, classes), detector),
        "threshold": detector.calibration.threshold,
        "rejected": float(test.rejected.mean()),
        "false_alarms": _false_alarms(detector, classes, test),
        "ood": {},
    }
    for name, judged in ood.items():
        report["ood"][name] = {
            "documents": len(judged.scores),
            "rejected": float(judged.rejected.mean()),
            **_plain(detection_report(test.scores, judged.scores, **options)),
        }
    return report


def _with_thresholds(table: list[dict[str, Any]], detector: Detector) -> list[dict[str, Any]]:
    """The table with the confidence from which each label is given, and whether that is its own threshold."""
    rule = detector.label_rule
    assert rule is not None
    confidence = class_probabilities(rule.thresholds[None] / detector.temperature, detector.head)[0]
    return [
        {**row, "threshold": float(one), "own_threshold": bool(own)}
        for row, one, own in zip(table, confidence, rule.by_label, strict=True)
    ]


def evaluate_regression(
    doc_logits: npt.NDArray[np.float32], labels: Sequence[float], resampling: Resampling
) -> dict[str, Any]:
    """Pearson and Spearman correlation and squared error, each with an interval."""
    predicted = doc_logits[:, 0].astype(np.float64)
    figures = regression_report(np.asarray(labels, dtype=np.float64), predicted, **asdict(resampling))
    return {"regression": _plain(figures)}


def _open_set(
    labels: npt.NDArray[np.int64], known: int, test: Judgement, foreign: Judgement, resampling: Resampling
) -> dict[str, dict[str, float]]:
    """How good the model's decisions are on both sets together: a rejected text is predicted as the unknown."""
    true = np.concatenate([labels, np.full(len(foreign.scores), known)])
    decided = [np.where(judged.rejected, known, judged.predicted) for judged in (test, foreign)]
    return _plain(open_set_report(true, np.concatenate(decided), known, **asdict(resampling)))


def _false_alarms(detector: Detector, classes: Sequence[str], test: Judgement) -> dict[str, Any]:
    """The guaranteed rate and the one on the test documents, with its exact interval."""
    calibration = detector.calibration
    report: dict[str, Any] = {
        "asked": calibration.false_alarm_rate,
        "promised": calibration.promised,
        "confidence": calibration.confidence,
        "rate_interval": calibration.rate_interval,
        "held_out": len(calibration.scores),
        "separate": detector.held_out.separate,
        "realised": _share(test.rejected),
    }
    if calibration.by_class.any() or calibration.apart is not None:
        report["by_predicted_class"] = {
            name: _share(test.rejected[test.predicted == label])
            for label, name in enumerate(classes)
            if (test.predicted == label).any()
        }
    return report


def _share(hits: npt.NDArray[np.bool_]) -> dict[str, float]:
    return binomial_interval(int(hits.sum()), len(hits)).as_dict()


def _plain(figures: dict[str, Interval]) -> dict[str, dict[str, float]]:
    return {name: interval.as_dict() for name, interval in figures.items()}
