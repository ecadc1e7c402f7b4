"""masker: text classifiers that know when they do not know.

Heavy modules are imported on first use, so ``import masker`` is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from masker.classifier import MaskerClassifier
    from masker.config import Settings, build_settings
    from masker.detection.prediction import Prediction
    from masker.documents import Documents, read_documents
    from masker.errors import ConfigError, DataError, MaskerError, ModelError
    from masker.keywords import Keyword, KeywordSet
    from masker.model import Model

__version__ = "0.1.0"

_HOMES = {
    "MaskerClassifier": "masker.classifier",
    "Prediction": "masker.detection.prediction",
    "Settings": "masker.config",
    "build_settings": "masker.config",
    "Documents": "masker.documents",
    "read_documents": "masker.documents",
    "ConfigError": "masker.errors",
    "DataError": "masker.errors",
    "MaskerError": "masker.errors",
    "ModelError": "masker.errors",
    "Keyword": "masker.keywords",
    "KeywordSet": "masker.keywords",
    "Model": "masker.model",
}

__all__ = [
    "ConfigError",
    "DataError",
    "Documents",
    "Keyword",
    "KeywordSet",
    "MaskerClassifier",
    "MaskerError",
    "Model",
    "ModelError",
    "Prediction",
    "Settings",
    "build_settings",
    "read_documents",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'masker' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
