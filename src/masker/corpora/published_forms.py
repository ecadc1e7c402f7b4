"""Corpora as their authors publish them: a file or a folder that the user brings, and its reader.

No registry has these files, so they are not downloaded; ``masker data fetch NAME --from PATH`` stores what is read from
them in the cache. All readers are deterministic: the same files give the same corpus on every machine.
"""

from __future__ import annotations

import csv
import hashlib
import json
import tarfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from masker.corpora.bot_messages import bot_files, read_bot
from masker.corpora.corpus_rows import STARS, CorpusRow, Parts, distinct, normalise, seventy_thirty
from masker.corpora.intent_folders import intent_files, read_intents
from masker.corpora.newswire import read_newswire, story_files
from masker.corpora.product_reviews import read_grocery, read_products, review_files
from masker.errors import DataError
from masker.files import file_sha256

#: The longest CSV cell; the csv module's default is shorter than some reviews.
_MAX_CELL = 2**24


class PublishedForm(NamedTuple):
    """The file or folder in which a corpus is published, and its reader."""

    file_name: str
    read: Callable[[Path], Parts]
    where: str  # to get it
    #: The files of a folder that are read; ``None`` if it is a single file.
    files: Callable[[Path], list[Path]] | None = None
    sha256: str | None = None  # of the file, if it is known
    rows: dict[str, int] | None = None  # documents that it should give, if they are known


def read_published(name: str, path: Path) -> Parts:
    """Read a corpus from the file or folder its authors publish."""
    form = PUBLISHED_FORMS[name]
    try:
        return form.read(path)
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})") from error
    except (ValueError, RecursionError, tarfile.TarError) as error:
        raise DataError(f"does not have the format of {form.file_name} ({error})") from error


def published_sha256(name: str, path: Path) -> str:
    """The hash of a published file; of a folder, that of the hashes of the files that are read from it."""
    files = PUBLISHED_FORMS[name].files
    if path.is_file() or files is None:
        return file_sha256(path)
    found = (file for file in files(path) if file.is_file())
    hashes = "".join(f"{file.relative_to(path).as_posix()} {file_sha256(file)}\n" for file in found)
    return hashlib.sha256(hashes.encode()).hexdigest()


def doubts(name: str, path: Path, parts: Parts) -> list[str]:
    """What differs from the known file: its hash, or the number of documents."""
    form = PUBLISHED_FORMS[name]
    found = []
    if form.sha256 is not None and path.is_file() and file_sha256(path) != form.sha256:
        found.append(f"{path.name} is not the known file (its sha256 begins with {form.sha256[:12]})")
    rows = {split: len(members) for split, members in parts.items()}
    if form.rows is not None and rows != form.rows:
        counts = " and ".join(f"{count:,} ({split})" for split, count in rows.items())
        known = " and ".join(f"{count:,}" for count in form.rows.values())
        found.append(f"{name} has {counts} documents, where {known} are known")
    return found


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


def _read_newsgroups(path: Path) -> Parts:
    """The raw posts, ``20news-bydate-SPLIT/CLASS/NUMBER``, in the archive or unpacked; they are Latin-1."""
    parts: Parts = {"train": [], "test": []}
    for name, content in _archived(path) if path.is_file() else _unpacked(path):
        folder, _, label = name.rpartition("/")[0].rpartition("/")
        split = folder.rpartition("20news-bydate-")[2]
        text = content.decode("latin-1")
        if split in parts and text.strip():
            parts[split].append({"text": text, "label": label})
    return parts


def _archived(path: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None:
                yield member.name, file.read()


def _unpacked(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in _posts(folder):
        yield path.relative_to(folder).as_posix(), path.read_bytes()


def _posts(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("20news-bydate-*/*/*") if path.is_file())


_REVIEWS = (
    "git clone https://github.com/ZixuanKe/LifelongSentClass, then in it "
    "git checkout 34b14392887a5c01323c52124821c75db2067887"
)

_INTENTS = (
    "git clone https://github.com/jianguoz/Few-Shot-Intent-Detection, then in it "
    "git checkout ffa870f2c86c347e8937433da8c33e1f56bc3490"
)


def _intents(name: str, train: int, dev: int, test: int) -> PublishedForm:
    rows = {"train": train, "dev": dev, "test": test}
    read, files = partial(read_intents, name=name), partial(intent_files, name=name)
    return PublishedForm("Few-Shot-Intent-Detection", read, _INTENTS, files, rows=rows)


def _bot(name: str, train: int, test: int, ood: int) -> PublishedForm:
    rows = {"train": train, "test": test, "ood": ood}
    read, files = partial(read_bot, name=name), partial(bot_files, name=name)
    return PublishedForm("HINT3", read, "git clone https://github.com/hellohaptik/HINT3", files, rows=rows)


PUBLISHED_FORMS = {
    "20newsgroups": PublishedForm(
        "20news-bydate.tar.gz",
        _read_newsgroups,
        "http://qwone.com/~jason/20Newsgroups/",
        _posts,
        sha256="8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
        rows={"train": 11314, "test": 7532},
    ),
    "amazon24": PublishedForm("LifelongSentClass", read_products, _REVIEWS, review_files),
    "amazon50": PublishedForm(
        "50EleReviews.json",
        _read_electronics,
        "named in the README of https://github.com/leishu02/EMNLP2017_DOC",
    ),
    "atis": _intents("ATIS", 4478, 500, 893),
    "finefood": PublishedForm(
        "Reviews.csv", _read_fine_foods, "https://www.kaggle.com/datasets/snap/amazon-fine-food-reviews"
    ),
    "grocery": PublishedForm(
        "LifelongSentClass", read_grocery, _REVIEWS, review_files, rows={"train": 3748, "test": 999}
    ),
    "hint3-curekart": _bot("curekart", 599, 459, 532),
    "hint3-powerplay11": _bot("powerplay11", 471, 309, 674),
    "hint3-sofmattress": _bot("sofmattress", 328, 253, 144),
    "hwu64": _intents("HWU64", 8954, 1076, 1076),
    "reuters": PublishedForm(
        "reuters21578.tar.gz",
        read_newswire,
        "http://www.daviddlewis.com/resources/testcollections/reuters21578/",
        story_files,
        rows={"train": 7770, "test": 3019},
    ),
    "snips": _intents("SNIPS", 13084, 700, 700),
}
