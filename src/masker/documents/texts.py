"""Texts as a user of the library passes them: strings, or pairs of strings."""

from __future__ import annotations

from collections.abc import Sequence

from masker.documents.collection import Documents
from masker.errors import DataError

Text = str | tuple[str, str]


def split_pairs(texts: Sequence[Text]) -> tuple[list[str], list[str] | None]:
    """Texts and, when every item is a (text, text_pair) tuple, the second texts."""
    if isinstance(texts, str):
        raise DataError("texts must be a list of strings, and this is one string; put it into a list")
    items = list(texts)
    if items and all(isinstance(item, (tuple, list)) and len(item) == 2 for item in items):
        return [str(item[0]) for item in items], [str(item[1]) for item in items]
    if not all(isinstance(item, str) for item in items):
        raise DataError("texts must be strings, or all of them (text, text_pair) tuples")
    return [str(item) for item in items], None


def texts_of(documents: Documents) -> list[Text]:
    """The documents as :meth:`masker.MaskerClassifier.predict` takes them: texts, or pairs of texts."""
    if documents.pairs is None:
        return list(documents.texts)
    return list(zip(documents.texts, documents.pairs, strict=True))
