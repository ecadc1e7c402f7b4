"""Texts and labels as a user of the library gives them: strings or pairs of strings, and names or numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from masker.data.documents import Documents, as_class_name
from masker.errors import DataError

Text = str | tuple[str, str]

#: From the name of a class back to the label that the user gave, by the type of the labels.
LABEL_TYPES: dict[str, Callable[[str], Any]] = {"str": str, "int": int, "float": float, "bool": "true".__eq__}


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


def label_type_of(labels: Sequence[object]) -> str:
    """The type that all labels have, one of :data:`LABEL_TYPES`; ``str`` where they differ."""
    kinds = {type(label).__name__ for label in labels}
    return kinds.pop() if len(kinds) == 1 and kinds < set(LABEL_TYPES) else "str"


def class_name(label: object) -> str:
    """The name of the class that a label of any type stands for, as in a file with that label.

    Raises:
        DataError: When it stands for none.
    """
    name = as_class_name(label.item() if isinstance(label, np.generic) else label)
    if name is None:
        raise DataError(f"the label {label!r} names no class; leave its text out, or give it a class")
    return name


def texts_of(documents: Documents) -> list[Text]:
    """The documents as :meth:`masker.MaskerClassifier.predict` takes them: texts, or pairs of texts."""
    if documents.pairs is None:
        return list(documents.texts)
    return list(zip(documents.texts, documents.pairs, strict=True))
