"""Checks across the sections of settings: choices that do not go together."""

from __future__ import annotations

from typing import Any

from masker.registry import METHODS, SCORES


def check_sections(settings: Any) -> None:
    """Check :class:`masker.config.Settings`, whose module imports this one.

    Raises:
        ValueError: Says which settings are at odds, and what to change.
    """
    if settings.keywords.source == "random" and settings.keywords.class_balanced:
        raise ValueError("keywords.class_balanced has no meaning for keywords.source=random; drop one of the two")
    method = METHODS.get(settings.training.method)
    if settings.model.head not in method.heads:
        raise ValueError(
            f"model.head must be {' or '.join(method.heads)} for training.method={method.name}; "
            f"got '{settings.model.head}'"
        )
    if settings.detection.score != "auto" and method.own_score is not None:
        raise ValueError(
            f"training.method={method.name} has a score of its own; got detection.score={settings.detection.score}, "
            "so leave it out"
        )
    if settings.detection.score != "auto" and SCORES.get(settings.detection.score).method_only:
        raise ValueError(
            f"detection.score={settings.detection.score} belongs to a training method of its own (docs/systems.md); "
            "choose another score"
        )
    if settings.loss.lambda_attention > 0 and not method.attention:
        raise ValueError(
            f"loss.lambda_attention needs a network with attention, which training.method={method.name} has not; "
            "leave it at 0"
        )
    if settings.keywords.random_share is not None and settings.keywords.source != "random":
        raise ValueError(
            f"keywords.random_share needs keywords.source=random; got '{settings.keywords.source}', so leave it out"
        )
    if settings.loss.mer_target == "no-class" and settings.model.head == "multi-class":
        raise ValueError(
            "loss.mer_target=no-class needs model.head=one-vs-rest: a softmax always names a class; "
            "use mer_target=uniform"
        )
    if settings.model.head == "multi-label" and settings.loss.class_weights == "balanced":
        raise ValueError(
            "loss.class_weights=balanced weights documents by their class, and those of model.head=multi-label have "
            "several; leave it at none"
        )
    if settings.detection.rule == "published" and not method.own_rule:
        able = ", ".join(name for name, row in METHODS.items() if row.own_rule)
        raise ValueError(
            f"detection.rule=published needs a method with such a rule ({able}); "
            f"got training.method={method.name}, so leave detection.rule out"
        )
