"""The model folder: a native transformers folder plus two files of masker. No pickle is read or written.

====================== ========================================================================================
``config.json`` …      the native model and tokenizer; ``pipeline("text-classification", folder)`` opens them
``masker.json``        labels, keywords, score, threshold, settings, provenance
``masker.safetensors`` the token head and the statistics of the scores
====================== ========================================================================================

A later calibration writes its tensors to a new file, ``masker.*.safetensors``, to which ``masker.json`` then points:
one rename switches from the old state to the new one.
"""

from __future__ import annotations

import json
import secrets
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from masker.errors import ConfigError, ModelError
from masker.files import atomic_folder, write_text
from masker.modeling.manifest import DAMAGE, MOST_JSON, MOST_TENSORS, check_encoder, check_file_name, check_size
from masker.modeling.quiet import quiet_transformers
from masker.modeling.tensors import write_arrays

MANIFEST = "masker.json"
TENSORS = "masker.safetensors"
FORMAT = 1

#: What a caller does to a model folder before it appears under its name.
Change = Callable[[Path], object]

_PICKLE_SUFFIXES = {".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib", ".dill"}


@dataclass(frozen=True)
class ModelFolder:
    """The content of the two files of masker."""

    manifest: dict[str, Any]
    tensors: dict[str, npt.NDArray[Any]]


def check_output(path: str | Path) -> Path:
    """Refuse an output folder that is not empty."""
    folder = Path(path).expanduser()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"output '{folder}' already exists; choose another folder or remove this one first")
    return folder


def save_folder(
    path: str | Path,
    native: Any,
    tokenizer: Any,
    content: ModelFolder,
    *,
    overwrite: bool = False,
    beside: Change | None = None,
) -> Path:
    """Write a model folder, whole or not at all: what transformers saves of ``native`` and its tokenizer, and ours.

    ``overwrite`` replaces a model folder of that name once the new one is whole; no other folder is ever deleted.
    ``beside`` writes more files into the folder before it appears under its name.
    """
    from safetensors import SafetensorError

    folder = Path(path).expanduser().resolve()
    if overwrite and folder.is_dir() and any(folder.iterdir()):
        load_manifest(folder)  # delete nothing but our own models
    else:
        folder = check_output(path)
    try:
        with atomic_folder(folder) as temporary:
            with quiet_transformers():
                native.save_pretrained(temporary)
                tokenizer.save_pretrained(temporary)
            write_arrays(content.tensors, temporary / TENSORS)
            write_text(temporary / MANIFEST, _manifest_text(content.manifest))
            if beside is not None:
                beside(temporary)
    except (OSError, RuntimeError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            f"the model cannot be written to '{folder}' ({reason}); free space or choose another folder"
        ) from None
    return folder


def update_folder(path: str | Path, content: ModelFolder) -> Path:
    """Replace our two files of a model folder, both or neither; the native files stay."""
    folder = Path(path).expanduser()
    name = f"masker.{secrets.token_hex(6)}.safetensors"
    try:
        write_arrays(content.tensors, folder / name)
        write_text(folder / MANIFEST, _manifest_text({**content.manifest, "tensors": name}))
    except OSError as error:
        (folder / name).unlink(missing_ok=True)
        reason = error.strerror or str(error)
        raise ConfigError(f"the model in '{folder}' cannot be changed ({reason}); give --output") from None
    # The file before this one, and what a calibration that was killed has left.
    for file in (*folder.glob("masker*.safetensors"), *folder.glob(".masker*")):
        if file.name != name:
            file.unlink(missing_ok=True)
    return folder


def _manifest_text(manifest: dict[str, Any]) -> str:
    return json.dumps({"format": FORMAT, **manifest}, ensure_ascii=False, indent=1)


def copy_folder(source: str | Path, path: str | Path, change: Change) -> Path:
    """Copy a model folder and change the copy; it appears once it is changed, or not at all."""
    folder = check_output(path)
    try:
        with atomic_folder(folder) as temporary:
            shutil.copytree(Path(source).expanduser(), temporary, dirs_exist_ok=True)
            temporary.chmod(0o755)
            change(temporary)
    except (OSError, shutil.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)[:160]
        raise ConfigError(f"the model cannot be copied to '{folder}' ({reason}); choose another --output") from None
    return folder


def check_folder(path: str | Path) -> Path:
    """Check that ``path`` is a model folder of masker and holds nothing that could run code."""
    folder = Path(path).expanduser()
    if not folder.is_dir():
        raise ModelError(f"there is no model folder '{path}'; train one with 'masker train DATA --output {path}'")
    for file in sorted(folder.rglob("*")):
        if file.is_symlink() and _leads_out(file, folder):
            raise ModelError(
                f"model folder '{path}' contains a link that leads out of it ({file.relative_to(folder)}); replace the "
                "link by the file if you trust it"
            )
        if file.is_file() and _is_pickle(file):
            raise ModelError(
                f"model folder '{path}' contains a pickle ({file.relative_to(folder)}), which can run code when "
                "opened; remove it if you trust the rest"
            )
    if not (folder / MANIFEST).is_file():
        kind = "a transformers model without" if (folder / "config.json").is_file() else "not a model folder: it lacks"
        raise ModelError(f"'{path}' is {kind} {MANIFEST}; give a folder that 'masker train' wrote")
    return folder


def load_manifest(path: str | Path) -> ModelFolder:
    """Read the two files of masker."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    folder = check_folder(path)
    try:
        manifest = json.loads(check_size(folder / MANIFEST, MOST_JSON).read_text(encoding="utf-8"))
        version = int(manifest["format"])
        check_encoder(folder)
        file = manifest.get("tensors", TENSORS)
        check_file_name(file, "tensors")
        tensors = load_file(check_size(folder / file, MOST_TENSORS))
    except (OSError, SafetensorError, *DAMAGE) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:160]
        raise ModelError(f"model folder '{path}' is damaged ({reason}); restore or retrain it") from None
    if version > FORMAT:
        raise ModelError(f"model folder '{path}' was written by a newer masker (format {version}); upgrade masker")
    return ModelFolder(manifest, tensors)


def _leads_out(link: Path, folder: Path) -> bool:
    """Whether a link leads to anything but a file of the folder, or of the hub's cache, whose files are all links."""
    target, home = link.resolve(), folder.resolve()
    blobs = home.parent.parent / "blobs" if home.parent.name == "snapshots" else None
    return not target.is_file() or not (target.is_relative_to(home) or target.parent == blobs)


def _is_pickle(file: Path) -> bool:
    """By name or content: a raw pickle, or a zip archive (torch.save) that contains one."""
    if file.suffix.lower() in _PICKLE_SUFFIXES:
        return True
    with file.open("rb") as stream:
        start = stream.read(9)
    # A safetensors file starts with the length of its header, which may look like a pickle (80 02), then "{".
    if file.suffix == ".safetensors" and start[8:] == b"{":
        return False
    if len(start) >= 2 and start[0] == 0x80 and start[1] <= 5:
        return True
    if start[:4] != b"PK\x03\x04":
        return False
    try:
        with zipfile.ZipFile(file) as archive:
            return any(name.endswith(".pkl") for name in archive.namelist())
    except zipfile.BadZipFile:
        return False
