"""What the files of a model folder must say for the model to make sense: it may be damaged, or come from a stranger."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from masker.errors import ModelError
from masker.labels import LABEL_TYPES

#: Longest row in tokens, and layers of an encoder, that anybody has use for; without a limit, a few digits in a file
#: could take all memory.
MOST_TOKENS = 1_000_000
MOST_LAYERS = 1000
#: Likewise, bytes of our two files.
MOST_JSON = 2**26
MOST_TENSORS = 2**32

#: What a value that makes no sense leads the code that uses it to.
DAMAGE = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)


def damaged(what: str, error: Exception) -> ModelError:
    """The error to raise instead: a damaged file may have any value in it, of any length."""
    return ModelError(f"{what} damaged ({' '.join(repr(error).split())[:300]}); restore or retrain the model")


def check_manifest(manifest: dict[str, Any]) -> None:
    """Refuse values that would give wrong answers, or a traceback later on.

    Raises:
        ValueError: Names the value.
        KeyError, TypeError: When one is missing, or of another kind.
    """
    classes, kind, length = manifest["classes"], manifest["label_type"], manifest["max_length"]
    _ = manifest["score"], manifest["threshold"]
    if not isinstance(classes, list) or not all(isinstance(name, str) for name in classes):
        raise ValueError("classes is not a list of names")
    if len(set(classes)) < len(classes):
        raise ValueError("classes has a name twice")
    if kind not in LABEL_TYPES:
        raise ValueError(f"label_type is {kind!r}")
    for name in classes:
        LABEL_TYPES[kind](name)
    if not isinstance(length, int) or not 1 <= length <= MOST_TOKENS:
        raise ValueError(f"max_length is {length!r}")
    if not isinstance(manifest["pairs"], bool):
        raise ValueError(f"pairs is {manifest['pairs']!r}")


def check_outputs(manifest: dict[str, Any], outputs: int) -> None:
    """Refuse classes that are not those of the network, with a ValueError; a regression has none."""
    classes = len(manifest["classes"])
    if classes not in (0, outputs):
        raise ValueError(f"{classes} classes for {outputs} outputs")


def check_encoder(folder: Path) -> None:
    """Refuse with a ValueError a ``config.json`` with an encoder too deep to be one, and weights in other folders."""
    layers = _object_in(folder / "config.json").get("num_hidden_layers", 0)
    if not isinstance(layers, int) or not 0 <= layers <= MOST_LAYERS:
        raise ValueError(f"num_hidden_layers is {layers!r}")
    for index in folder.glob("*.index.json"):
        for file in set(_object_in(index)["weight_map"].values()):
            check_file_name(file, index.name)


def check_file_name(name: Any, said_in: str) -> None:
    """Refuse with a ValueError what is not the name of a file in the folder itself."""
    if not isinstance(name, str) or Path(name).name != name or name == "..":
        raise ValueError(f"{said_in}: {name!r} is not a file of the folder")


def check_size(file: Path, most: int) -> Path:
    """Refuse with a ValueError a file too large to be what its name says."""
    size = file.stat().st_size
    if size > most:
        raise ValueError(f"{file.name} has {size:,} bytes, more than {most:,}")
    return file


def _object_in(file: Path) -> dict[str, Any]:
    content = json.loads(check_size(file, MOST_JSON).read_text(encoding="utf-8")) if file.is_file() else {}
    if not isinstance(content, dict):
        raise ValueError(f"{file.name} holds no keys and values")
    return content
