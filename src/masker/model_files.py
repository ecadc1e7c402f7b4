"""Reading and writing the folder of a :class:`masker.model.Model`, whose module imports this one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from masker.config import stored_settings
from masker.detection.arrays import Arrays
from masker.detection.detector import Detector
from masker.errors import ConfigError, ModelError
from masker.inference.backend import LINEAR_TENSORS, TOKEN_HEAD
from masker.inference.opening import open_network
from masker.keywords import KeywordSet
from masker.modeling.manifest import DAMAGE, check_manifest, check_outputs, damaged
from masker.modeling.model_folder import Change, ModelFolder, load_manifest, save_folder, update_folder
from masker.registry import METHODS

#: Fields that ``masker.json`` has under their own names.
_PLAIN = ("max_length", "classes", "label_type", "pairs", "validation", "provenance")


def read_model_fields(folder: str | Path, backend: str | None, device: str) -> dict[str, Any]:
    """The fields of the model in a folder.

    Raises:
        ConfigError: When there is no such backend or device.
        MissingPackageError: When the backend needs a package that is not installed.
        ModelError: When the folder is missing, not ours, damaged, not exported for ``backend``, or has a pickle.
    """
    stored = load_manifest(folder)
    manifest = stored.manifest
    try:
        settings = stored_settings(manifest["settings"])
        check_manifest(manifest)
        keywords = None if manifest["keywords"] is None else KeywordSet.from_json(manifest["keywords"])
        fields = {name: manifest[name] for name in _PLAIN}
        losses = manifest.get("losses", {})  # earlier versions kept none
    except (*DAMAGE, ConfigError) as error:
        raise damaged(f"masker.json in '{folder}' is", error) from None
    try:
        detector = None
        if settings.model.head != "regression":
            detector = Detector.from_stored(manifest, stored.tensors, settings)
        fine_tuned = METHODS.get(settings.training.method).fine_tuned
        network = open_network(Path(folder).expanduser(), stored.tensors, backend, device, fine_tuned=fine_tuned)
        check_outputs(manifest, network.backend.n_outputs)
    except DAMAGE as error:
        raise damaged(f"the statistics in '{folder}' are", error) from None
    opened = {"tokenizer": network.tokenizer, "backend": network.backend, "detector": detector, "settings": settings}
    return {**fields, **opened, "keywords": keywords, "losses": losses}


def write_model(model: Any, folder: str | Path, *, overwrite: bool, beside: Change | None) -> Path:
    """Write the whole folder; the arguments and errors are those of :meth:`masker.model.Model.save`."""
    weights = model.backend.weights()
    if weights is None:
        raise ModelError("this backend does not hold the full weights; open the model with backend='torch' to save it")
    content = folder_content(model, weights.tensors)
    return save_folder(folder, weights.native, model.tokenizer, content, overwrite=overwrite, beside=beside)


def write_detector(model: Any, folder: str | Path) -> Path:
    """Replace the detector in an existing folder of the model; the network's files stay."""
    stored = load_manifest(folder).tensors
    # A linear classifier is stored in the same file as the detector, and so is the token head.
    network = {name: tensor for name, tensor in stored.items() if name.startswith((*LINEAR_TENSORS, TOKEN_HEAD))}
    return update_folder(folder, folder_content(model, network))


def folder_content(model: Any, network: Mapping[str, Any]) -> ModelFolder:
    """What ``masker.json`` and ``masker.safetensors`` hold, given the tensors that belong to the network."""
    detector = model.detector
    statistics: Arrays = {} if detector is None else detector.to_arrays()
    manifest = {
        **{name: getattr(model, name) for name in _PLAIN},
        "score": None if detector is None else detector.score.name,
        "threshold": None if detector is None else detector.calibration.finite_threshold,
        "detection": None if detector is None else detector.to_manifest(),
        "keywords": None if model.keywords is None else model.keywords.to_json(),
        "settings": model.settings.model_dump(),
        "losses": model.losses,
    }
    return ModelFolder(manifest, {**statistics, **network})
