"""The parameters of :class:`masker.classifier.MaskerClassifier` as settings, and settings as parameters."""

from __future__ import annotations

from typing import Any

from masker.config import Settings, build_settings

#: Settings that have a parameter of their own.
_PARAMETERS: dict[str, dict[str, str]] = {
    "training": {"method": "method", "epochs": "epochs", "seed": "seed"},
    "model": {"head": "head", "backbone": "backbone", "max_length": "max_length"},
    "keywords": {"source": "keywords"},
    "detection": {
        "false_alarm_rate": "false_alarm_rate",
        "confidence": "confidence",
        "score": "detector",
        "class_conditional": "class_conditional",
    },
}


def settings_from_parameters(classifier: Any) -> Settings:
    """The settings that the parameters of a classifier stand for; those in its ``settings`` win."""
    named = {
        section: {key: getattr(classifier, parameter) for key, parameter in keys.items()}
        for section, keys in _PARAMETERS.items()
    }
    return build_settings(named, classifier.settings, preset=classifier.preset)


def parameters_from_settings(settings: Settings) -> dict[str, Any]:
    """Parameters that say the same as the settings."""
    values = settings.model_dump()
    named = {
        parameter: values[section].pop(key) for section, keys in _PARAMETERS.items() for key, parameter in keys.items()
    }
    return {**named, "settings": values}
