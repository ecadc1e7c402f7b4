"""What a calibration on new texts changes in the settings, and which texts it uses for what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from masker.config import Settings, build_settings
from masker.detection.auto import MIN_DOCUMENTS_TO_CHOOSE
from masker.detection.score import AUTO, MissingScore
from masker.documents import validation_split
from masker.errors import ConfigError, DataError
from masker.labels import class_name
from masker.registry import METHODS, SCORES


def recalibrated_settings(
    settings: Settings,
    used: str,
    score: str | None = None,
    false_alarm_rate: float | None = None,
    class_conditional: bool | None = None,
    confidence: float | None = None,
) -> Settings:
    """Settings with the requested changes; ``None`` keeps the present value. ``used`` is the score in use.

    Raises:
        ConfigError: When the method has a score of its own, or a value is out of range.
        ModelError: When the score in use is not installed and no other is named.
    """
    method = METHODS.get(settings.training.method)
    if score is None and used != AUTO and used not in SCORES:
        raise MissingScore(used).error()
    if method.own_score is not None and score not in (None, used):
        raise ConfigError(f"score: method {method.name} has one of its own; leave --score out")
    before = settings.detection
    changes: dict[str, Any] = {
        # Asking for a rate replaces the published threshold.
        "rule": before.rule if false_alarm_rate is None and confidence is None else "false-alarm-rate",
        "score": before.score if method.own_score is not None else score or used,
        "false_alarm_rate": before.false_alarm_rate if false_alarm_rate is None else false_alarm_rate,
        "confidence": before.confidence if confidence is None else confidence,
        "class_conditional": before.class_conditional if class_conditional is None else class_conditional,
    }
    return build_settings(settings.model_dump(), {"detection": changes})


def check_statistics(labels: Sequence[Any], classes: Sequence[str], settings: Settings) -> None:
    """Refuse training texts that no score of the model learns from, or that lack one of its classes."""
    method = METHODS.get(settings.training.method)
    if method.own_score is not None:
        raise ConfigError(f"statistics: method {method.name} has a score of its own; leave them out")
    lists = [label if isinstance(label, (list, tuple)) else [label] for label in labels]
    names = {class_name(label) for several in lists for label in several}
    if names < set(classes):
        raise DataError("statistics: every class of the model needs at least one text; some have none")


def choosing_split(labels: Sequence[Any] | None, count: int, settings: Settings) -> tuple[list[int], list[int]]:
    """Row numbers of the texts to choose ``auto`` on and of those to calibrate it on.

    Raises:
        DataError: When there are no labels, or too few texts.
    """
    if labels is None:
        raise DataError("calibrate: score 'auto' is chosen on labelled texts; add a label column, or leave it out")
    if count < 2 * MIN_DOCUMENTS_TO_CHOOSE:
        raise DataError(
            f"calibrate: score 'auto' needs at least {2 * MIN_DOCUMENTS_TO_CHOOSE} labelled texts, half of them to "
            f"choose it on; got {count}"
        )
    # Lists are split at random (:mod:`masker.training.training_data` says why).
    names = [label if isinstance(label, (list, tuple)) else class_name(label) for label in labels]
    share = settings.data.calibration_share or 0.5
    choosing, held_out = validation_split(names, share, settings.training.seed, keep_one=False)
    if len(choosing) < MIN_DOCUMENTS_TO_CHOOSE or not held_out:
        raise DataError(
            f"calibrate: score 'auto' is chosen on one part of the texts and calibrated on the other, here "
            f"{len(choosing)} and {len(held_out)} (data.calibration_share={share:g}); give more texts"
        )
    return choosing, held_out
