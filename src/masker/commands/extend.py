"""``masker extend``: new classes or examples for the model of a folder."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from masker.config import DataSettings
from masker.documents import Documents, check_form, read_documents
from masker.documents.label_doubts import warn_of_doubts
from masker.documents.texts import texts_of
from masker.errors import ConfigError
from masker.extras import require
from masker.modeling.model_folder import check_folder, check_output, load_manifest


@dataclass(frozen=True)
class ExtendOptions:
    """How to extend.

    Attributes:
        output: Folder for the new model; ``None`` replaces the old one.
        retrain: Train fully, on the training data and the new texts.
        data: The training data, for ``retrain``.
        restart: Discard an unfinished ``retrain``.
        device: Where to compute.
    """

    output: str | None = None
    retrain: bool = False
    data: str | None = None
    restart: bool = False
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
    if options.restart and not options.retrain:
        raise ConfigError("--restart discards an unfinished --retrain; give both, or neither")
    check_folder(folder)
    if options.output is not None:
        check_output(options.output)
    start = time.monotonic()
    documents = read_documents(new, settings, require_labels=True)
    manifest = load_manifest(folder).manifest
    check_form(documents, several=manifest["settings"]["model"]["head"] == "multi-label")
    warn_of_doubts(documents, manifest["classes"])
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
    from masker.extension import retrain_folder

    before = load_manifest(folder).manifest["classes"]
    known = read_documents(str(options.data), settings.all_rows(), require_labels=True)
    model, written = retrain_folder(
        folder, known, documents, output=options.output, device=options.device, restart=options.restart
    )
    return {
        "model": str(written),
        "added": model.provenance["extended"][-1]["texts"],
        "new_classes": sorted(set(model.classes) - set(before)),
        "classes": len(model.classes),
        "accuracy": model.validation.get("accuracy"),
        "threshold": model.require_detector().calibration.threshold,
        **(model.describe_detector() or {}),
    }
