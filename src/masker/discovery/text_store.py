"""Texts and their vectors on disk, so that a million of them need no more memory than a few thousand."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from masker.discovery.text_space import Vectors

#: Texts in memory at a time.
CHUNK = 4096


class StoredTexts(NamedTuple):
    """Some of the texts: (N, H) vectors, and a record of each, JSON-ready."""

    vectors: Vectors
    records: list[dict[str, Any]]


class TextStore:
    """A temporary folder to which texts are added and from which they are read in order, or some at random.

    Vectors are kept in 16 bits, which changes a cosine by less than a thousandth.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="masker-texts-")
        root = Path(self._folder.name)
        self._vectors, self._records = (root / "vectors").open("w+b"), (root / "records").open("w+b")
        self._width = 0
        self._starts: list[int] = []  # where the record of each CHUNK-th text begins
        self._count = 0

    def __enter__(self) -> TextStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._vectors.close()
        self._records.close()
        self._folder.cleanup()

    def __len__(self) -> int:
        return self._count

    def add(self, vectors: Vectors, records: Sequence[dict[str, Any]]) -> None:
        """Append (N, H) vectors and N records."""
        self._width = vectors.shape[1] if len(vectors) else self._width
        self._vectors.seek(0, 2)
        self._vectors.write(vectors.astype(np.float16).tobytes())
        self._records.seek(0, 2)
        for record in records:
            if self._count % CHUNK == 0:
                self._starts.append(self._records.tell())
            self._records.write(json.dumps(record).encode("ascii") + b"\n")
            self._count += 1

    def chunks(self) -> Iterator[StoredTexts]:
        """All texts, in order."""
        for place in range(len(self._starts)):
            yield self._chunk(place)

    def sample(self, size: int, seed: int) -> tuple[StoredTexts, list[int]]:
        """At most ``size`` texts, each with the same chance, and their numbers, ascending."""
        numbers = np.arange(self._count)
        if size < self._count:
            numbers = np.sort(np.random.default_rng(seed).choice(self._count, size, replace=False))
        return self.take(numbers.tolist()), numbers.tolist()

    def take(self, numbers: Sequence[int]) -> StoredTexts:
        """The texts with these numbers, in that order."""
        found: dict[int, tuple[Vectors, dict[str, Any]]] = {}
        wanted = set(numbers)
        for place in sorted({number // CHUNK for number in wanted}):
            chunk = self._chunk(place)
            for row, record in enumerate(chunk.records):
                if place * CHUNK + row in wanted:
                    found[place * CHUNK + row] = chunk.vectors[row], record
        vectors = np.array([found[number][0] for number in numbers], dtype=np.float32).reshape(-1, self._width)
        return StoredTexts(vectors, [found[number][1] for number in numbers])

    def _chunk(self, place: int) -> StoredTexts:
        count = min(CHUNK, self._count - place * CHUNK)
        self._vectors.seek(2 * self._width * place * CHUNK)
        rows = np.frombuffer(self._vectors.read(2 * self._width * count), dtype=np.float16).reshape(count, -1)
        self._records.seek(self._starts[place])
        return StoredTexts(rows.astype(np.float32), [json.loads(self._records.readline()) for _ in range(count)])
