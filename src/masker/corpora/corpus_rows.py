"""Rows of a corpus in the one form that is kept: ``{"text", "label"}``, for pairs also ``text_pair``, and ``genre``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from masker.labels import as_class_name

CorpusRow = dict[str, Any]
Parts = dict[str, list[CorpusRow]]  # split -> rows

#: Stars as sentiment: the paper takes one star as negative and five as positive, and leaves the rest out.
STARS = {"1": "negative", "5": "positive"}


def normalise(
    records: Iterable[Mapping[str, Any]], columns: Mapping[str, str], labels: Mapping[str, str] | None = None
) -> Iterator[CorpusRow]:
    """Rename columns and labels; rows with a blank text or without a usable label are left out.

    Args:
        records: The rows as their source has them.
        columns: Our name of a column -> the source's.
        labels: The source's label, written out -> our class name; a label that is not in it drops its row. None keeps
            labels as they are.
    """
    for record in records:
        row = {ours: record[theirs] for ours, theirs in columns.items()}
        if labels is not None:
            row["label"] = labels.get(as_class_name(row["label"]) or "")
        texts = [row[name] for name in ("text", "text_pair") if name in row]
        if row["label"] is not None and all(isinstance(text, str) and text.strip() for text in texts):
            yield row


def distinct(rows: Iterable[CorpusRow]) -> list[CorpusRow]:
    """The rows without those whose text came before: a text in two splits would be tested on after training on it."""
    first: dict[str, CorpusRow] = {}
    for row in rows:
        first.setdefault(row["text"], row)
    return list(first.values())


def seventy_thirty(rows: Iterable[CorpusRow]) -> Parts:
    """Cut 70:30 within each class, as the paper does where a corpus has no official split."""
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
    """A random order that no version of a random number generator can change; the seed is the leading 0."""
    return sorted(rows, key=_shuffle_key)


def _shuffle_key(row: CorpusRow) -> str:
    pair = f"\0{row['text_pair']}" if "text_pair" in row else ""
    return hashlib.sha256(f"0:{row['text']}{pair}".encode("utf-8", "surrogatepass")).hexdigest()
