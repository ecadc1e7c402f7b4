"""Training texts that a model was told to keep, to show those nearest to a text.

::

    masker train data.csv --output model --keep-examples 200

They are in one file of the model folder, ``examples.safetensors``: delete it, and the model has forgotten them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.detection.statistics import bank_rows
from masker.documents import Documents
from masker.documents.texts import texts_of
from masker.errors import ConfigError, ModelError
from masker.files import atomic_path
from masker.inference.windows import single_labels
from masker.labels import LABEL_TYPES, class_indices, label_matrix
from masker.model import Model
from masker.registry import METHODS

FILE = "examples.safetensors"
#: The kind of features that examples are compared by.
KIND = "cls"
#: Characters that are kept of a text: enough to recognise it.
LONGEST = 1000
_CONTENT = "examples"


@dataclass(frozen=True)
class NearestExample:
    """A training text, and the cosine of the angle between its features and those of the text in question."""

    text: str
    pair: str | None
    label: Any
    similarity: float


@dataclass(frozen=True)
class TrainingExamples:
    """M training texts."""

    texts: list[str]
    pairs: list[str] | None
    labels: list[Any]
    vectors: npt.NDArray[np.float32]  # (M, H) features

    def nearest(self, vector: npt.NDArray[np.floating], count: int) -> list[NearestExample]:
        """The nearest ones to a (H,) vector, nearest first."""
        lengths = np.linalg.norm(self.vectors, axis=1) * max(float(np.linalg.norm(vector)), 1e-12)
        similar = self.vectors @ vector / np.maximum(lengths, 1e-12)
        pairs: Sequence[str | None] = self.pairs or [None] * len(self.texts)
        best = np.argsort(-similar, kind="stable")[:count]
        return [NearestExample(self.texts[n], pairs[n], self.labels[n], float(similar[n])) for n in best]

    def save(self, folder: Path) -> Path:
        """Write them into a model folder."""
        from safetensors.numpy import save_file

        content = {"texts": self.texts, "pairs": self.pairs, "labels": self.labels}
        with atomic_path(folder / FILE) as temporary:
            save_file({"vectors": self.vectors}, temporary, {_CONTENT: json.dumps(content)})
        return folder / FILE


def check_keeps_examples(method: str) -> None:
    """Refuse to keep examples for a method without a network of its own.

    Raises:
        ConfigError: Says so.
    """
    if not METHODS.get(method).fine_tuned:
        raise ConfigError(f"method {method} has no network to compare texts with; leave --keep-examples out")


def choose_examples(model: Model, documents: Documents, count: int) -> TrainingExamples:
    """At most ``count`` of the documents that a model was trained on, balanced over the classes.

    Raises:
        ConfigError: When the model has no network to compare texts with.
    """
    check_keeps_examples(model.settings.training.method)
    labels = documents.labels or []
    indices = np.zeros(len(documents), np.int64)
    if model.is_multi_label:
        indices = single_labels(label_matrix(labels, model.classes).astype(np.int64))
    elif not model.is_regression:
        indices = class_indices(labels, model.classes)
    chosen = documents.take(bank_rows(indices, count, model.settings.training.seed).tolist())
    vectors = np.asarray(model.outputs(texts_of(chosen), kinds=(KIND,)).features[KIND], dtype=np.float32)
    kept: list[Any] = list(chosen.labels or [])
    if model.is_multi_label:
        kept = ["; ".join(several) for several in kept]
    elif not model.is_regression:
        kept = [LABEL_TYPES[model.label_type](label) for label in kept]
    pairs = None if chosen.pairs is None else [pair[:LONGEST] for pair in chosen.pairs]
    return TrainingExamples([text[:LONGEST] for text in chosen.texts], pairs, kept, vectors)


def open_examples(folder: str | Path) -> TrainingExamples | None:
    """The examples of a model folder; ``None`` if it keeps none.

    Raises:
        ModelError: When they are damaged.
    """
    from safetensors import SafetensorError, safe_open

    path = Path(folder).expanduser() / FILE
    if not path.exists():
        return None
    try:
        with safe_open(path, "numpy") as file:
            content, vectors = json.loads(file.metadata()[_CONTENT]), file.get_tensor("vectors")
        examples = TrainingExamples(content["texts"], content["pairs"], content["labels"], vectors)
        if not len(examples.texts) == len(examples.labels) == len(vectors):
            raise ValueError("texts and vectors differ in number")
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:160]
        raise ModelError(f"the examples in '{path}' are damaged ({reason}); delete the file, or train again") from None
    return examples
