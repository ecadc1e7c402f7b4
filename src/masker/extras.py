"""Optional packages: the extra that brings each, and the one line a user reads where one is missing.

The base install predicts with an exported model. Modules that need more import it where they are used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from masker.errors import MissingPackageError

#: The extra that brings a package, by the name that is imported.
EXTRAS = {
    "accelerate": "train",
    "datasets": "train",
    "sklearn": "train",
    "torch": "train",
    "transformers": "train",
    "pyarrow": "parquet",
    "onnx": "onnx",
    "onnxscript": "onnx",
    "fastapi": "serve",
    "httpx": "serve",
    "prometheus_client": "serve",
    "uvicorn": "serve",
    "jinja2": "report",
    "matplotlib": "report",
    "openTSNE": "report",
    "ray": "ray",
}


def require(purpose: str, *modules: str, instead: str = "") -> Any:
    """Import optional packages and return the first of them.

    Args:
        purpose: What needs them, the subject of the error's sentence.
        modules: Packages of :data:`EXTRAS`, or modules of them.
        instead: What to do instead of installing them.

    Raises:
        MissingPackageError: When one of them cannot be imported.
    """
    found = []
    for module in modules:
        try:
            found.append(import_module(module))
        except ImportError as error:
            way_round = f", or {instead}" if instead else ""
            raise MissingPackageError(f"{purpose} needs {_remedy(module, error)}{way_round}") from None
    return found[0]


def explained(error: ImportError, purpose: str = "this") -> MissingPackageError | None:
    """The error to show in place of one about a missing optional package; ``None`` for all others."""
    known = error.name is not None and _package(error.name) in EXTRAS
    return MissingPackageError(f"{purpose} needs {_remedy(str(error.name), error)}") if known else None


def _remedy(module: str, error: ImportError) -> str:
    package = _package(module)
    return f"{package} ({error}); install it with pip install 'masker[{EXTRAS[package]}]'"


def _package(module: str) -> str:
    return module.partition(".")[0]
