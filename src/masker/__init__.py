"""masker: text classifiers that know when they do not know.

Heavy modules are imported on first use, so ``import masker`` is cheap.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from masker.extras import explained

if TYPE_CHECKING:
    from masker.classifier import MaskerClassifier
    from masker.client import Client
    from masker.config import Settings, build_settings
    from masker.detection.prediction import Prediction
    from masker.documents import Documents, read_documents
    from masker.errors import ConfigError, DataError, MaskerError, ModelError
    from masker.keywords import Keyword, KeywordSet
    from masker.model import Model

__version__ = "0.1.0"

#: How often a thread of torch looks whether the others are done before it sleeps.
_SPIN_COUNT = "1000"


def _limit_spinning() -> None:
    """Let the threads of torch give up their core soon while they wait for each other.

    By default they spin, which is fastest on idle cores. Beside one busy process every operation then waits until its
    last thread gets a core, and a training step takes several times as long. OpenMP reads the variable when torch is
    loaded, so afterwards there is nothing to do; what the user has set is left alone.
    """
    chosen = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"}
    if "torch" not in sys.modules and not chosen.intersection(os.environ):
        os.environ["GOMP_SPINCOUNT"] = _SPIN_COUNT


_limit_spinning()

_HOMES = {
    "Client": "masker.client",
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
    "Client",
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
        try:
            return getattr(import_module(_HOMES[name]), name)
        except ModuleNotFoundError as error:
            raise explained(error, f"masker.{name}") or error from None
    raise AttributeError(f"module 'masker' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
