"""What the paper does where the package by default does more.

The score is the highest probability, confidence is not calibrated, all documents train, and weights are not averaged.
Systems of recipes start from these settings, unless they start from the package's defaults. A
stage names only what differs from them, so its id is that of the paper's experiment.
"""

from __future__ import annotations

import copy
from typing import Any

from masker.config import DetectionSettings
from masker.presets import PAPER_TRAINING, preset_layer
from masker.registry import METHODS

Sections = dict[str, dict[str, Any]]

#: Further settings of scores and calibration, which the paper's score does not read.
_UNREAD = ("bank", "neighbours", "held_out", "confidence", "class_conditional", "missed_rate")


def paper_settings(method: str) -> Sections:
    """The settings for a method; one with a score of its own keeps it, which is what ``auto`` means there."""
    unread = {name: DetectionSettings.model_fields[name].default for name in _UNREAD}
    score = "max-prob" if METHODS.get(method).own_score is None else "auto"
    training = PAPER_TRAINING["training"]
    return {
        "data": {**PAPER_TRAINING["data"], "calibration_share": 0.0},
        "model": dict(PAPER_TRAINING["model"]),
        "masking": {"view_share": PAPER_TRAINING["masking"]["view_share"]},
        "training": {name: training[name] for name in ("averaged_share", "head_start", "frozen_layers")},
        "detection": {"score": score, "calibrate_confidence": False, **PAPER_TRAINING["detection"], **unread},
    }


def paper_optimization(given: Sections) -> Sections:
    """How the paper trains what is ``given``, beyond :func:`paper_settings`; a stage names these values."""
    layer, named = preset_layer("ood", given), paper_settings("masker")["training"]
    training = {name: value for name, value in layer["training"].items() if name not in named and name != "epochs"}
    return {"training": training, "baselines": layer["baselines"]}


def without_paper_settings(settings: Sections) -> Sections:
    """Settings without those that equal the paper's."""
    kept = copy.deepcopy(settings)
    for section, values in paper_settings(settings["training"]["method"]).items():
        for name, value in values.items():
            if kept[section][name] == value:
                del kept[section][name]
    return kept


def with_paper_settings(settings: Sections) -> Sections:
    """The inverse of :func:`without_paper_settings`."""
    paper = paper_settings(settings["training"]["method"])
    return {**settings, **{section: {**values, **settings.get(section, {})} for section, values in paper.items()}}
