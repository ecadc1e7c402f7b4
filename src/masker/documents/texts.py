"""Texts as users of the library pass them: strings or pairs of strings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from masker.documents.document_set import Documents
from masker.errors import DataError

Text = str | tuple[str, str]

#: Rows or texts of a stream that are worked on together: enough to sort by length, little memory.
STREAM_CHUNK = 2048

Item = TypeVar("Item")


def in_chunks(stream: Iterable[Item]) -> Iterator[list[Item]]:
    """The items of a stream in lists of :data:`STREAM_CHUNK`."""
    items = iter(stream)
    while chunk := list(islice(items, STREAM_CHUNK)):
        yield chunk


def split_pairs(texts: Sequence[Text]) -> tuple[list[str], list[str] | None]:
    """Separate (text, text_pair) tuples into texts and second texts; plain strings have no second texts."""
    if isinstance(texts, str):
        raise DataError("texts must be a list of strings; got a single string; put it into a list")
    items = list(texts)
    if items and all(isinstance(item, (tuple, list)) and len(item) == 2 for item in items):
        return [well_formed(str(item[0])) for item in items], [well_formed(str(item[1])) for item in items]
    if not all(isinstance(item, str) for item in items):
        raise DataError("texts must be strings, or all (text, text_pair) tuples")
    return [well_formed(str(item)) for item in items], None


def kind_mismatch(pairs: bool) -> str:
    """What to say of single texts given to a model of pairs, or of pairs given to one of single texts."""
    expected = "pairs of texts (columns text and text_pair)" if pairs else "single texts"
    return f"this model was trained on {expected}; the input is of the other kind"


def well_formed(text: str) -> str:
    """The text with half surrogate pairs replaced: JSON and Python strings can carry them, no tokenizer takes them."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def texts_of(documents: Documents) -> list[Text]:
    """The documents as :meth:`masker.MaskerClassifier.predict` takes them: strings, or pairs of strings."""
    if documents.pairs is None:
        return list(documents.texts)
    return list(zip(documents.texts, documents.pairs, strict=True))
