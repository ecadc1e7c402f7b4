"""The documents of a training run: split into training, validation and calibration parts, and tokenized."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from masker.config import Settings
from masker.documents import Documents, validation_split
from masker.documents.encoding import Encoded, encode
from masker.errors import DataError
from masker.labels import class_indices

#: The smallest calibration part worth having: with fewer documents no false-alarm rate of 5 % can be promised.
LEAST_CALIBRATION = 19.5


@dataclass(frozen=True)
class TrainingData:
    """Encoded documents.

    Attributes:
        train: The network is trained on these.
        validation: These choose the best checkpoint and the score.
        calibration: These choose nothing, so that what is measured on them holds for new documents; ``None`` if there
            are too few to set some aside.
    """

    train: Encoded
    validation: Encoded
    calibration: Encoded | None = None


def encode_training_data(
    documents: Documents, classes: Sequence[str], settings: Settings, tokenizer: Any, max_length: int
) -> TrainingData:
    """Hold out the validation and calibration documents and tokenize all parts."""
    assert documents.labels is not None
    if settings.model.head == "regression":
        labels: Any = np.array(documents.labels, dtype=np.float32)
    else:
        labels = class_indices(documents.labels, classes)
    train, held_out = validation_split(documents.labels, settings.data.validation_fraction, settings.training.seed)
    if not held_out:
        raise DataError("no document can be held out for validation; give at least two documents of some class")
    parts = []
    for rows in [train, *_calibration_split(documents.labels, held_out, settings)]:
        subset = documents.take(rows)
        parts.append(
            encode(
                tokenizer,
                subset.texts,
                subset.pairs,
                max_length,
                labels=labels[np.asarray(rows, dtype=np.int64)],
                window_overlap=settings.model.overlap,
            )
        )
    return TrainingData(*parts)


def _calibration_split(labels: list[str] | list[float], held_out: list[int], settings: Settings) -> list[list[int]]:
    """Validation rows and calibration rows; the former alone if the latter would be too few to promise much."""
    share = settings.data.calibration_share
    if settings.model.head == "regression" or share * len(held_out) < LEAST_CALIBRATION:
        return [held_out]
    names = [str(labels[row]) for row in held_out]
    chosen, kept = validation_split(names, share, settings.training.seed)
    return [[held_out[place] for place in chosen], [held_out[place] for place in kept]]
