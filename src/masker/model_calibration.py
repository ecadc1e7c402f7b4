"""Calibrating a trained model anew: on new texts, or at the rate that suits out-of-distribution examples.

Each function takes a :class:`masker.model.Model`, whose module imports this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from masker.config import Settings
from masker.detection.calibration import Calibration
from masker.detection.detector import Detector
from masker.detection.fitting import DetectorFitter
from masker.detection.recalibration import check_statistics, choosing_split
from masker.detection.trade_off import operating_point
from masker.documents.encoding import Encoded
from masker.documents.texts import Text
from masker.errors import DataError
from masker.registry import METHODS

#: Texts with their labels.
Labelled = tuple[Sequence[Text], Sequence[Any]]


def detector_on_new_texts(
    model: Any,
    settings: Settings,
    texts: Sequence[Text],
    labels: Sequence[Any] | None,
    *,
    statistics: Labelled | None,
    choose_auto: bool,
) -> Detector:
    """The detector of a model, calibrated on new texts; see :meth:`masker.model.Model.calibrate`.

    Args:
        model: The model.
        settings: Those of the new detector.
        texts: New texts.
        labels: Their classes, if they are known.
        statistics: Labelled training texts to gather statistics from.
        choose_auto: Whether score ``auto``, if the settings name it, is chosen anew.
    """
    if statistics is not None:
        check_statistics(statistics[1], model.classes, settings)
    if not len(texts):
        raise DataError("calibrate: there is no text; give held-out texts of the model's classes")
    training = None if statistics is None else model.encode_labelled(*statistics)
    own_score = METHODS.get(settings.training.method).own_score
    choosing: Encoded | None = None
    if choose_auto and own_score is None and settings.detection.score == "auto":
        parts = choosing_split(labels, len(texts), settings)
        choosing, held_out = (
            model.encode_labelled([texts[row] for row in rows], [(labels or [])[row] for row in rows]) for rows in parts
        )
    else:
        held_out = model.encode(texts) if labels is None else model.encode_labelled(texts, labels)
    fitter = DetectorFitter(model.backend, model.tokenizer, model.keywords, settings)
    return fitter.recalibrate(model.require_detector(), held_out, choosing, training)


def best_operating_point(
    model: Any, ood_texts: Sequence[Text], highest: float | None
) -> tuple[float, list[dict[str, Any]]]:
    """The false-alarm rate that suits the examples best, and the table of other rates."""
    model.require_detector("ood_examples")
    if not len(ood_texts):
        raise DataError("ood_examples: there is no text; give at least one")
    judged = model.judge(ood_texts)

    def rule_at(rate: float) -> Calibration:
        calibration: Calibration = model.adjusted(false_alarm_rate=rate).require_detector().calibration
        return calibration

    return operating_point(rule_at, judged.scores, judged.predicted, highest)
