"""Extending the model of a folder: what ``masker extend`` and the service do."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from masker.documents.texts import Text
from masker.evidence.training_examples import FILE
from masker.extension.extending import Extension, extend_model
from masker.model import Model


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

    Training texts that the folder keeps for :mod:`masker.evidence` stay; an ONNX export must be made again.

    Args:
        folder: The model folder.
        texts: New texts.
        labels: Their classes.
        output: Folder for the new model; ``None`` replaces the old one.
        device: Where to compute.
        data: Where the texts are from, for the provenance.
    """
    made = extend_model(Model.open(folder, "torch", device), texts, labels, data=data)
    examples = Path(folder).expanduser() / FILE
    keep = (lambda place: shutil.copyfile(examples, place / FILE)) if examples.is_file() else None
    return made, made.model.save(output or folder, overwrite=output is None, beside=keep)
