"""The model folder: what transformers opens by itself, plus two files of ours. No pickle, read or written.

==================== ==========================================================================================
``config.json`` …    the native model, tokenizer included; opens with ``pipeline("text-classification", folder)``
``masker.json``      labels, keywords, score, threshold, settings, provenance
``masker.safetensors`` the token head and the statistics that scores need
``pretrained/``      the encoder before fine-tuning, in 16 bits; only where a score reads its features
==================== ==========================================================================================

A later calibration leaves its tensors in a file of another name, ``masker.*.safetensors``, which ``masker.json`` then
points to: one rename makes old into new.
"""

from __future__ import annotations

import copy
import json
import os
import secrets
import shutil
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from masker.errors import ConfigError, ModelError
from masker.modeling.quiet import quiet_transformers
from masker.modeling.tensors import write_tensors

MANIFEST = "masker.json"
TENSORS = "masker.safetensors"
PRETRAINED = "pretrained"
FORMAT = 1

_PICKLE_SUFFIXES = {".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib", ".dill"}


@dataclass(frozen=True)
class ModelFolder:
    """What a model folder holds beside the native model."""

    manifest: dict[str, Any]
    tensors: dict[str, torch.Tensor]


def check_output(path: str | Path) -> Path:
    """Refuse an output folder that already holds something.

    Raises:
        ConfigError: Says to choose another folder or remove this one.
    """
    folder = Path(path).expanduser()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"output '{folder}' already exists; choose another folder or remove this one first")
    return folder


def save_folder(
    path: str | Path,
    classifier: Any,
    tokenizer: Any,
    manifest: dict[str, Any],
    tensors: dict[str, torch.Tensor],
    pretrained: Any = None,
    *,
    overwrite: bool = False,
) -> Path:
    """Write a model folder atomically: whole under a temporary name, then renamed.

    Args:
        path: The folder.
        classifier: What transformers saves.
        tokenizer: Its tokenizer.
        manifest: The content of ``masker.json``.
        tensors: The content of ``masker.safetensors``.
        pretrained: The encoder before fine-tuning, where it is needed.
        overwrite: A model folder that is there goes once the new one is whole.

    Raises:
        ConfigError: When the folder exists and may not be overwritten, or the disk does not take it (nothing is left
            behind then, and what was there stays).
        ModelError: When what is to be overwritten is no model of ours.
    """
    from safetensors import SafetensorError

    folder = Path(path).expanduser().resolve()
    if overwrite and folder.is_dir() and any(folder.iterdir()):
        load_manifest(folder)  # only ever delete what is a model of ours
    else:
        folder = check_output(path)
    temporary: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        temporary.chmod(0o755)
        with quiet_transformers():
            classifier.save_pretrained(temporary)
            tokenizer.save_pretrained(temporary)
            if pretrained is not None:
                copy.deepcopy(pretrained).bfloat16().save_pretrained(temporary / PRETRAINED)
        write_tensors(tensors, temporary / TENSORS)
        (temporary / MANIFEST).write_text(
            json.dumps({"format": FORMAT, **manifest}, ensure_ascii=False, indent=1), encoding="utf-8"
        )
        _put_in_place(temporary, folder)
    except (OSError, RuntimeError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            f"the model cannot be written to '{folder}' ({reason}); free space or choose another"
        ) from None
    finally:
        if temporary is not None and temporary.exists():
            shutil.rmtree(temporary, ignore_errors=True)
    return folder


def _put_in_place(new: Path, folder: Path) -> None:
    """Rename ``new`` to ``folder``; an older folder of that name is put back when that fails."""
    if not folder.is_dir():
        os.replace(new, folder)
        return
    old = new.with_name(f"{new.name}.old")
    os.replace(folder, old)
    try:
        os.replace(new, folder)
    except BaseException:
        os.replace(old, folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def update_folder(path: str | Path, manifest: dict[str, Any], tensors: dict[str, torch.Tensor]) -> Path:
    """Replace our two files of a model folder, both or none of them; what transformers wrote stays as it is.

    Raises:
        ConfigError: When the disk does not take them; the folder is as it was then.
    """
    folder = Path(path).expanduser()
    name = f"masker.{secrets.token_hex(6)}.safetensors"
    temporary = folder / f".{MANIFEST}.tmp"
    try:
        write_tensors(tensors, folder / name)
        content = {"format": FORMAT, **manifest, "tensors": name}
        temporary.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")
        os.replace(temporary, folder / MANIFEST)
    except OSError as error:
        (folder / name).unlink(missing_ok=True)
        temporary.unlink(missing_ok=True)
        reason = error.strerror or str(error)
        raise ConfigError(f"the model in '{folder}' cannot be changed ({reason}); give --output") from None
    for file in folder.glob("masker*.safetensors"):
        if file.name != name:
            file.unlink(missing_ok=True)
    return folder


def copy_folder(source: str | Path, path: str | Path) -> Path:
    """Copy a model folder, whole or not at all.

    Raises:
        ConfigError: When the target exists, or the disk does not take it.
    """
    folder = check_output(path)
    temporary: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        shutil.copytree(Path(source).expanduser(), temporary, dirs_exist_ok=True)
        temporary.chmod(0o755)
        _put_in_place(temporary, folder)
    except (OSError, shutil.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)[:160]
        raise ConfigError(f"the model cannot be copied to '{folder}' ({reason}); choose another --output") from None
    finally:
        if temporary is not None and temporary.exists():
            shutil.rmtree(temporary, ignore_errors=True)
    return folder


def check_folder(path: str | Path) -> Path:
    """Make sure that ``path`` is a folder saved by this package and holds nothing that could run code.

    Raises:
        ModelError: When it is missing, of another kind, or has a pickle in it.
    """
    folder = Path(path).expanduser()
    if not folder.is_dir():
        raise ModelError(f"there is no model folder '{path}'; train one with 'masker train DATA --output {path}'")
    for file in sorted(folder.rglob("*")):
        if file.is_file() and _is_pickle(file):
            raise ModelError(
                f"model folder '{path}' holds a pickle ({file.relative_to(folder)}), which can run code when opened; "
                "remove it if you trust the rest"
            )
    if not (folder / MANIFEST).is_file():
        kind = "a transformers model without" if (folder / "config.json").is_file() else "no model folder: it lacks"
        raise ModelError(f"'{path}' is {kind} {MANIFEST}; give a folder that 'masker train' wrote")
    return folder


def load_manifest(path: str | Path) -> ModelFolder:
    """Read our two files of a model folder.

    Raises:
        ModelError: When the folder is foreign, unsafe, damaged, or written by a newer version.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    folder = check_folder(path)
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        version = int(manifest["format"])
        file = str(manifest.get("tensors", TENSORS))
        if Path(file).name != file:
            raise ValueError(f"tensors: '{file}' is no file of the folder")
        tensors = load_file(folder / file)
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise ModelError(f"model folder '{path}' is damaged ({_reason(error)}); restore or retrain it") from None
    if version > FORMAT:
        raise ModelError(f"model folder '{path}' was written by a newer masker (format {version}); upgrade masker")
    return ModelFolder(manifest, tensors)


def _reason(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:160]


def _is_pickle(file: Path) -> bool:
    """By name, or by content: a raw pickle, or a zip archive (torch.save) with one inside."""
    if file.suffix.lower() in _PICKLE_SUFFIXES:
        return True
    with file.open("rb") as stream:
        start = stream.read(9)
    # A safetensors file starts with the length of its header, whose bytes can be those of a pickle (80 02), and "{".
    if file.suffix == ".safetensors" and start[8:] == b"{":
        return False
    if len(start) >= 2 and start[0] == 0x80 and start[1] <= 5:
        return True
    if start[:4] == b"PK\x03\x04":
        try:
            with zipfile.ZipFile(file) as archive:
                return any(name.endswith(".pkl") for name in archive.namelist())
        except zipfile.BadZipFile:
            return False
    return False
