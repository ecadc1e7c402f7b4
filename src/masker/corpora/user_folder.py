"""Corpora that the user supplies: the ``MASKER_DATA`` folder, and two corpora as their authors publish them.

The folder holds ``NAME.SPLIT.jsonl.gz`` files of ``{"text", "label"}`` lines. It may also hold ``50EleReviews.json``
(amazon50) and ``Reviews.csv`` (finefood), which are split 70:30 and stored in the cache.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from masker.corpora.corpus_rows import STARS, CorpusRow, Parts, distinct, normalise, seventy_thirty
from masker.errors import DataError

_FILE_NAME = re.compile(r"(?P<name>.+)\.(?P<split>[^.]+)\.jsonl\.gz")
#: The longest CSV cell; the csv module's default is shorter than some reviews.
_MAX_CELL = 2**24


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
    """The file of a corpus as its authors publish it, if the user's folder has it."""
    folder = user_folder()
    if folder is None or name not in PUBLISHED_FORMATS:
        return None
    path = folder / PUBLISHED_FORMATS[name].file_name
    return path if path.is_file() else None


def read_published_file(name: str, path: Path) -> Parts:
    """Read a corpus from the file its authors publish."""
    try:
        return PUBLISHED_FORMATS[name].read(path)
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"does not have the format of {PUBLISHED_FORMATS[name].file_name} ({error})") from error


def _read_electronics(path: Path) -> Parts:
    """Chen & Liu's 50 kinds of electronics: texts ``X`` and, for each, its index ``y`` into ``target_names``."""
    content = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict) or not all(isinstance(content.get(k), list) for k in ("X", "y", "target_names")):
        raise DataError("must be a JSON object with the lists X, y and target_names")
    texts, classes, names = content["X"], content["y"], content["target_names"]
    if len(texts) != len(classes):
        raise DataError(f"X has {len(texts)} texts, but y has {len(classes)} classes")
    labels = {str(number): str(name) for number, name in enumerate(names)}
    records = ({"X": text, "y": number} for text, number in zip(texts, classes, strict=True))
    return seventy_thirty(normalise(records, {"text": "X", "label": "y"}, labels))


def _read_fine_foods(path: Path) -> Parts:
    """The table of Amazon Fine Foods; its columns ``Text`` and ``Score`` (stars) are used."""
    return seventy_thirty(distinct(normalise(_csv_rows(path), {"text": "Text", "label": "Score"}, STARS)))


def _csv_rows(path: Path) -> Iterator[CorpusRow]:
    csv.field_size_limit(max(_MAX_CELL, csv.field_size_limit()))
    with open(path, encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        missing = [name for name in ("Text", "Score") if name not in (reader.fieldnames or [])]
        if missing:
            raise DataError(f"has no column '{missing[0]}'")
        try:
            yield from reader
        except csv.Error as error:
            raise DataError(f"line {reader.line_num} is not valid CSV ({error})") from error


class PublishedFormat(NamedTuple):
    """The file in which the authors of a corpus publish it, and its reader."""

    file_name: str
    read: Callable[[Path], Parts]


PUBLISHED_FORMATS = {
    "amazon50": PublishedFormat("50EleReviews.json", _read_electronics),
    "finefood": PublishedFormat("Reviews.csv", _read_fine_foods),
}
