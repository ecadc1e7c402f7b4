"""A set of documents in memory, and the check that a classifier can be trained on it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from masker.config import Settings, build_settings
from masker.errors import DataError
from masker.labels import as_number


@dataclass(frozen=True)
class Documents:
    """A set of documents in memory."""

    texts: list[str]
    pairs: list[str] | None  # second texts, such as the hypothesis to a premise
    labels: list[str] | list[float] | list[list[str]] | None  # class names, numbers for regression, or lists of names
    name: str  # the source, for messages and provenance
    skipped: int = 0  # invalid rows of the source that were left out

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def class_names(self) -> list[str]:
        """The distinct class names, sorted; empty if labels are numbers or absent."""
        labels = self.labels or []
        if self.is_multi_label:
            return sorted({name for names in labels for name in cast("list[str]", names)})
        return sorted({label for label in labels if isinstance(label, str)})

    @property
    def is_multi_label(self) -> bool:
        """Whether each document has a list of labels."""
        return isinstance(next(iter(self.labels or []), None), list)

    def take(self, indices: Sequence[int]) -> Documents:
        """The documents at ``indices``, in that order."""
        labels = None if self.labels is None else [self.labels[i] for i in indices]
        return replace(
            self,
            texts=[self.texts[i] for i in indices],
            pairs=None if self.pairs is None else [self.pairs[i] for i in indices],
            labels=cast("list[str] | list[float] | list[list[str]] | None", labels),
        )

    def fingerprint(self) -> str:
        """A sha256 of texts, pairs and labels, the same on every machine."""
        digest = hashlib.sha256()
        for i, text in enumerate(self.texts):
            pair = None if self.pairs is None else self.pairs[i]
            label = None if self.labels is None else self.labels[i]
            # JSON keeps the fields apart: moving a word from text to pair changes the value.
            digest.update(json.dumps([text, pair, label]).encode("ascii") + b"\n")
        return digest.hexdigest()


def check_classes(documents: Documents) -> None:
    """Refuse labels that no classifier can be trained on."""
    classes = documents.class_names
    if not classes:
        raise DataError(f"{documents.name}: has no class labels; pass --label-column with the column that has them")
    if len(classes) == 1 and documents.is_multi_label:
        raise DataError(
            f"{documents.name}: no document has another label than '{classes[0]}'; give at least two labels, or a "
            "column 'label' that says of each document whether it has this one"
        )
    if len(classes) == 1:
        raise DataError(
            f"{documents.name}: all {len(documents)} documents have the label '{classes[0]}'; a classifier needs at "
            "least two classes; add documents of another class or choose another --label-column"
        )
    many = len(classes) > 20 and len(classes) > len(documents) / 2
    if many and all(as_number(name) is not None for name in classes):
        raise DataError(
            f"{documents.name}: {len(classes)} different numbers as labels of {len(documents)} documents look like "
            "scores, not classes; pass --head regression or choose another --label-column"
        )


def check_form(documents: Documents, *, several: bool) -> None:
    """Refuse lists of labels for a model that gives one, and single labels for one that gives several.

    Raises:
        DataError: Says which of the two the model takes.
    """
    if documents.is_multi_label != several:
        forms = "lists of labels", "one label for each text"
        own, other = forms if several else forms[::-1]
        raise DataError(f"{documents.name}: has {other}, and this model takes {own}; choose another --label-column")


def settings_for(documents: Documents, settings: Settings) -> Settings:
    """The settings, with a multi-label head if the documents have lists of labels: no other can learn them.

    Raises:
        ConfigError: When the method has no such head.
        DataError: When the head is multi-label and the documents have single labels.
    """
    if documents.is_multi_label == (settings.model.head == "multi-label"):
        return settings
    if not documents.is_multi_label:
        raise DataError(
            f"{documents.name}: has single labels, and model.head=multi-label takes lists; give a column 'labels', or "
            "leave the head out"
        )
    return build_settings(settings.model_dump(), {"model": {"head": "multi-label"}})
