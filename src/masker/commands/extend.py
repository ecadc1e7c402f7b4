"""``masker extend``: new classes or examples for the model of a folder."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from masker.config import DataSettings
from masker.documents import Documents, read_documents
from masker.documents.texts import texts_of
from masker.errors import ConfigError, DataError
from masker.extras import require
from masker.model import Model
from masker.modeling.model_folder import check_folder, check_output, load_manifest
from masker.training.work_folder import remove_work_folder


@dataclass(frozen=True)
class ExtendOptions:
    """How to extend.

    Attributes:
        output: Folder for the new model; ``None`` replaces the old one.
        retrain: Train fully, on the training data and the new texts, starting from the encoder as it is.
        data: The training data, for ``retrain``.
        device: Where to compute.
    """

    output: str | None = None
    retrain: bool = False
    data: str | None = None
    device: str = "auto"


def extend(folder: str, new: str, settings: DataSettings, options: ExtendOptions) -> dict[str, Any]:
    """Add the labelled texts of ``new`` to a model; see :func:`masker.extension.extend_model`.

    Returns a JSON-ready report.

    Raises:
        ConfigError: When an option is missing or has nothing to do, or the model cannot be extended.
        DataError: When the new texts cannot be used.
    """
    require("extending a model", "torch", "transformers")
    if options.retrain != (options.data is not None):
        raise ConfigError("--retrain and --data TRAINING_DATA belong together; give both, or neither")
    check_folder(folder)
    if options.output is not None:
        check_output(options.output)
    start = time.monotonic()
    documents = read_documents(new, settings, require_labels=True)
    report = (_retrained if options.retrain else _extended)(folder, documents, settings, options)
    return {**report, "texts": len(documents), "seconds": round(time.monotonic() - start, 1)}


def _extended(folder: str, documents: Documents, settings: DataSettings, options: ExtendOptions) -> dict[str, Any]:
    from masker.extension import extend_folder

    made, written = extend_folder(
        folder,
        texts_of(documents),
        documents.labels or [],
        output=options.output,
        device=options.device,
        data=documents.name,
    )
    return {
        "model": str(written),
        "added": made.added,
        "new_classes": made.new_classes,
        "classes": len(made.model.classes),
        "accuracy": made.accuracy,
        "kept": made.kept,
        "threshold": made.model.require_detector().calibration.threshold,
        **(made.model.describe_detector() or {}),
    }


def _retrained(folder: str, documents: Documents, settings: DataSettings, options: ExtendOptions) -> dict[str, Any]:
    """Train on the old texts and the new ones, from the weights of the old model."""
    before = load_manifest(folder).manifest
    old = Model.open(folder, "torch", options.device)
    known = read_documents(str(options.data), settings.all_rows(), require_labels=True)
    if (known.pairs is None) != (documents.pairs is None):
        raise DataError("--data and the new texts must both be single texts, or both pairs of texts")
    joined = Documents(
        [*known.texts, *documents.texts],
        None if known.pairs is None else [*known.pairs, *(documents.pairs or [])],
        [*map(str, known.labels or []), *map(str, documents.labels or [])],
        f"{known.name} and {documents.name}",
    )
    encoder = old.settings.model.model_copy(update={"backbone": str(Path(folder).expanduser().resolve())})
    target = Path(options.output or folder).expanduser()
    work = target.absolute().with_name(f"{target.name}.partial")
    model = Model.fit(joined, old.settings.model_copy(update={"model": encoder}), work, device=options.device)
    written = model.save(target, overwrite=options.output is None)
    remove_work_folder(work)
    return {
        "model": str(written),
        "added": dict(sorted(Counter(map(str, documents.labels or [])).items())),
        "new_classes": sorted(set(model.classes) - set(before["classes"])),
        "classes": len(model.classes),
        "accuracy": model.validation.get("accuracy"),
        "threshold": model.require_detector().calibration.threshold,
        **(model.describe_detector() or {}),
    }
