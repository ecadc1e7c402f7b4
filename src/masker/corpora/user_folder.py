"""Corpora that the user supplies: the ``MASKER_DATA`` folder.

It holds ``NAME.SPLIT.jsonl.gz`` files of ``{"text", "label"}`` lines. It may also hold corpora as their authors publish
them (:mod:`masker.corpora.published_forms`), which are converted once and stored in the cache.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from masker.corpora.published_forms import PUBLISHED_FORMS
from masker.errors import DataError

_FILE_NAME = re.compile(r"(?P<name>.+)\.(?P<split>[^.]+)\.jsonl\.gz")


def user_folder() -> Path | None:
    """The ``MASKER_DATA`` folder, or None if the variable is not set."""
    setting = os.environ.get("MASKER_DATA")
    if not setting:
        return None
    folder = Path(setting).expanduser()
    if not folder.is_dir():
        raise DataError(f"MASKER_DATA: must name a folder with NAME.SPLIT.jsonl.gz files; got '{setting}'")
    return folder


def user_corpora() -> dict[str, dict[str, Path]]:
    """The corpora in the user's folder: the file of each split, training first."""
    folder = user_folder()
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(folder.iterdir()) if folder else []:
        match = _FILE_NAME.fullmatch(path.name)
        if match and path.is_file():
            found.setdefault(match["name"], {})[match["split"]] = path
    return {name: dict(sorted(files.items(), key=lambda item: item[0] != "train")) for name, files in found.items()}


def published_file(name: str) -> Path | None:
    """The file or folder of a corpus as its authors publish it, if the user's folder has it."""
    folder = user_folder()
    if folder is None or name not in PUBLISHED_FORMS:
        return None
    path = folder / PUBLISHED_FORMS[name].file_name
    return path if path.exists() else None
