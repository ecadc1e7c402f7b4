"""The documents of a training run: split into those that are trained on and those held out, and tokenized."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from masker.config import Settings
from masker.documents import Documents, validation_split
from masker.documents.encoding import Encoded, encode
from masker.errors import DataError
from masker.modeling.backbone import Backbone

#: Documents that a calibration part has at least: with fewer no false-alarm rate below 5 % can be promised at all.
LEAST_CALIBRATION = 19.5


@dataclass(frozen=True)
class Corpus:
    """Encoded training and held-out documents.

    Attributes:
        train: Trained on.
        validation: Choose the best checkpoint.
        classes: Class names.
        calibration: Choose nothing, so that what is found on them holds for new documents; ``None`` where there are
            too few to set some apart.
    """

    train: Encoded
    validation: Encoded
    classes: list[str]
    calibration: Encoded | None = None


def encode_corpus(documents: Documents, classes: Sequence[str], settings: Settings, backbone: Backbone) -> Corpus:
    """Split off the validation and calibration documents and tokenize all parts."""
    assert documents.labels is not None
    if settings.model.head == "regression":
        labels = np.array(documents.labels, dtype=np.float32)
    else:
        index = {name: place for place, name in enumerate(classes)}
        labels = np.array([index[str(label)] for label in documents.labels], dtype=np.int64)
    parts = []
    seed = settings.training.seed
    train, held_out = validation_split(documents.labels, settings.data.validation_fraction, seed)
    if not held_out:
        raise DataError("no document can be set aside for validation; give at least two documents of some class")
    rows = [train, *_calibration_split(documents.labels, held_out, settings)]
    for part in rows:
        subset = documents.take(part)
        parts.append(
            encode(
                backbone.tokenizer,
                subset.texts,
                subset.pairs,
                backbone.max_length,
                labels=labels[np.asarray(part, dtype=np.int64)],
                windows=settings.model.long_documents == "windows",
                window_overlap=settings.model.window_overlap,
            )
        )
    return Corpus(parts[0], parts[1], list(classes), *parts[2:])


def _calibration_split(labels: list[str] | list[float], held_out: list[int], settings: Settings) -> list[list[int]]:
    """Validation rows and calibration rows, or the former alone where the latter would be too few to promise much."""
    share = settings.data.calibration_share
    if settings.model.head == "regression" or share * len(held_out) < LEAST_CALIBRATION:
        return [held_out]
    names = [str(labels[row]) for row in held_out]
    chosen, kept = validation_split(names, share, settings.training.seed)
    return [[held_out[place] for place in chosen], [held_out[place] for place in kept]]
