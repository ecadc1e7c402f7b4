"""What the paper does where the package by default does more.

Highest probability, confidence as it is, no documents set aside to calibrate on, and no mean of weights.

Every recipe starts from that. A stage names only what differs, so its id is that of the paper's experiment.
"""

from __future__ import annotations

import copy
from typing import Any

from masker.config import METHODS_WITH_SCORE, DetectionSettings

Sections = dict[str, dict[str, Any]]

#: Further settings of scores and calibration, which the paper's score does not read.
_UNREAD = ("bank", "neighbours", "held_out", "class_conditional")


def paper_settings(method: str) -> Sections:
    """The settings; a comparison system has a score of its own, which ``auto`` stands for."""
    unread = {name: DetectionSettings.model_fields[name].default for name in _UNREAD}
    score = "auto" if method in METHODS_WITH_SCORE else "max-prob"
    return {
        "data": {"calibration_share": 0.0},
        "training": {"averaged_share": 0.0},
        "detection": {"score": score, "calibrate_confidence": False, **unread},
    }


def without_paper_settings(settings: Sections) -> Sections:
    """Settings less those that are the paper's."""
    kept = copy.deepcopy(settings)
    for section, values in paper_settings(settings["training"]["method"]).items():
        for name, value in values.items():
            if kept[section][name] == value:
                del kept[section][name]
    return kept


def with_paper_settings(settings: Sections) -> Sections:
    """What :func:`without_paper_settings` was given."""
    paper = paper_settings(settings["training"]["method"])
    return {**settings, **{section: {**values, **settings.get(section, {})} for section, values in paper.items()}}
