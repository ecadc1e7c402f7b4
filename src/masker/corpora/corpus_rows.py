"""Corpus rows in the form the cache keeps: ``{"text", "label"}``, with ``text_pair`` for pairs, and maybe ``genre``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from masker.labels import as_class_name

CorpusRow = dict[str, Any]
Parts = dict[str, list[CorpusRow]]  # split -> rows

#: Star ratings as sentiment: the paper takes one star as negative, five as positive, and drops the rest.
STARS = {"1": "negative", "5": "positive"}


def normalise(
    records: Iterable[Mapping[str, Any]], columns: Mapping[str, str], labels: Mapping[str, str] | None = None
) -> Iterator[CorpusRow]:
    """Rename columns and labels, and drop rows with a blank text or no usable label.

    ``columns`` maps our names to the source's, ``labels`` the source's class names to ours; rows with any other label
    are dropped. ``None`` keeps the labels.
    """
    for record in records:
        row = {ours: record[theirs] for ours, theirs in columns.items()}
        if labels is not None:
            row["label"] = labels.get(as_class_name(row["label"]) or "")
        texts = [row[name] for name in ("text", "text_pair") if name in row]
        if row["label"] is not None and all(isinstance(text, str) and text.strip() for text in texts):
            yield row


def distinct(rows: Iterable[CorpusRow]) -> list[CorpusRow]:
    """The first row of each distinct text, so that no text ends up in both training and test data."""
    first: dict[str, CorpusRow] = {}
    for row in rows:
        first.setdefault(row["text"], row)
    return list(first.values())


def seventy_thirty(rows: Iterable[CorpusRow]) -> Parts:
    """Split 70:30 within each class, as the paper does for corpora without an official split."""
    classes: dict[str, list[CorpusRow]] = {}
    for row in shuffled(rows):
        classes.setdefault(row["label"], []).append(row)
    parts: Parts = {"train": [], "test": []}
    for label in sorted(classes):
        members = classes[label]
        cut = len(members) * 7 // 10
        parts["train"] += members[:cut]
        parts["test"] += members[cut:]
    return parts


def shuffled(rows: Iterable[CorpusRow]) -> list[CorpusRow]:
    """Shuffle by checksum, which no random number generator's version can change; the seed is the leading 0."""
    return sorted(rows, key=_shuffle_key)


def _shuffle_key(row: CorpusRow) -> str:
    pair = f"\0{row['text_pair']}" if "text_pair" in row else ""
    return hashlib.sha256(f"0:{row['text']}{pair}".encode("utf-8", "surrogatepass")).hexdigest()
