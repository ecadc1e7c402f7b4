"""What looks like a mistake in the labels, though a classifier can be trained on them."""

from __future__ import annotations

import logging
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from masker import distributed
from masker.documents.document_set import Documents
from masker.labels import as_number

_log = logging.getLogger("masker")

#: Characters of an example that are shown.
_SHOWN = 60


def label_doubts(documents: Documents, known: Sequence[str] = ()) -> list[str]:
    """A line for each doubt: texts with several labels, and labels that differ in spelling only.

    Labels are also compared with the classes that a model has, its ``known`` ones.
    """
    names = sorted({*documents.class_names, *known})
    return [line for line in (_several_labels(documents), _similar_labels(names), _same_numbers(names)) if line]


def warn_of_doubts(documents: Documents, known: Sequence[str] = ()) -> None:
    """Log the doubts, once in a distributed run."""
    if distributed.is_first():
        for line in label_doubts(documents, known):
            _log.warning(line)


def _several_labels(documents: Documents) -> str:
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    pairs = documents.pairs or [""] * len(documents)
    for text, pair, label in zip(documents.texts, pairs, documents.labels or [], strict=False):
        if isinstance(label, str):
            found[text.strip(), pair.strip()].add(label)
    several = {texts: labels for texts, labels in found.items() if len(labels) > 1}
    if not several:
        return ""
    (text, _), labels = next(iter(several.items()))
    example = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    names = " and ".join(f"'{label}'" for label in sorted(labels))
    count = "1 text has" if len(several) == 1 else f"{len(several)} texts have"
    return f"{documents.name}: {count} more than one label ({example!r}: {names}); only one of them can be learnt"


def _similar_labels(names: list[str]) -> str:
    spellings: dict[str, list[str]] = defaultdict(list)
    for name in names:
        spellings["".join(unicodedata.normalize("NFKC", name).casefold().split())].append(name)
    return _groups(spellings, "differ only in case or blanks")


def _same_numbers(names: list[str]) -> str:
    """What half a column of whole numbers becomes where the other half had a gap in it: 1 and 1.0."""
    numbers: dict[float, list[str]] = defaultdict(list)
    for name in names:
        number = as_number(name)
        if number is not None:
            numbers[number].append(name)
    return _groups(numbers, "are the same number")


def _groups(spellings: Mapping[Any, list[str]], alike: str) -> str:
    similar = [" and ".join(f"'{name}'" for name in group) for group in spellings.values() if len(group) > 1]
    if not similar:
        return ""
    more = f" and {len(similar) - 1} more" if len(similar) > 1 else ""
    return f"labels {similar[0]}{more} {alike}, but are trained as different classes"
