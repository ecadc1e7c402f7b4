"""Extending the model of a folder: what ``masker extend`` and the service do."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from masker.documents.texts import Text
from masker.errors import ConfigError
from masker.evidence.training_examples import FILE
from masker.extension.extending import Extension, extend_model
from masker.inference.onnx_backend import ONNX_FOLDER
from masker.model import Model


class BusyFolderError(ConfigError):
    """A model folder that another process is extending."""


def extend_folder(
    folder: str | Path,
    texts: Sequence[Text],
    labels: Sequence[Any],
    *,
    output: str | Path | None = None,
    device: str = "auto",
    data: str = "",
) -> tuple[Extension, Path]:
    """Open a model, add labelled texts (:func:`extend_model`), and write it; returns the extension and its folder.

    Args:
        folder: The model folder.
        texts: New texts.
        labels: Their classes.
        output: Folder for the new model; ``None`` replaces the old one.
        device: Where to compute.
        data: Where the texts are from, for the provenance.

    Raises:
        BusyFolderError: When the folder is to be replaced, and another process is about to do so.
    """
    with nullcontext() if output is not None else _held(Path(folder).expanduser().absolute()):
        made = extend_model(Model.open(folder, "torch", device), texts, labels, data=data)
        return made, made.model.save(output or folder, overwrite=output is None, beside=keep_files(folder))


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Keep others from extending a folder: the later of two would write over the earlier one's classes."""
    lock = FileLock(folder.with_name(f".{folder.name}.extend.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise BusyFolderError(f"another process is extending '{folder}'; try again when it is done") from None
    try:
        yield
    finally:
        lock.release()


def keep_files(folder: str | Path) -> Callable[[Path], None]:
    """What copies the other files of a model folder into the one that takes its place.

    Weights and an ONNX export are of the old model and stay behind. Texts that it keeps for :mod:`masker.evidence`, its
    card and files that somebody laid there come along.
    """
    source = Path(folder).expanduser()
    old = [entry for entry in source.iterdir() if not entry.name.startswith(".") and entry.name != ONNX_FOLDER]
    kept = [entry for entry in old if entry.suffix != ".safetensors" or entry.name == FILE]

    def keep(place: Path) -> None:
        for entry in kept:
            if (place / entry.name).exists():
                continue
            (shutil.copytree if entry.is_dir() else shutil.copyfile)(entry, place / entry.name)

    return keep
