"""The documents of a training run: tokenized, and split into parts, or dealt into folds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.config import Settings
from masker.documents import Documents, validation_split
from masker.documents.encoding import Encoded, encode
from masker.documents.folds import stratified_folds
from masker.errors import ConfigError, DataError
from masker.keywords import KeywordSet
from masker.labels import class_indices, label_matrix
from masker.masking.keywords_only import contain_keywords, keywords_only
from masker.registry import METHODS
from masker.training.cross_fitting import FOLDS, uses_cross_fitting

#: The smallest calibration part worth having: with fewer documents no false-alarm rate of 5 % can be promised.
LEAST_CALIBRATION = 19.5


@dataclass(frozen=True)
class TrainingData:
    """Encoded documents.

    Attributes:
        train: The network is trained on these.
        validation: These choose the best checkpoint and the score; empty if the documents are dealt into folds, or all
            of them train.
        calibration: These choose nothing, so that what is measured on them holds for new documents; ``None`` if there
            are too few to set some aside.
        folds: (N,) fold of each training document; ``None`` if documents were set aside.
    """

    train: Encoded
    validation: Encoded
    calibration: Encoded | None = None
    folds: npt.NDArray[np.int64] | None = None

    @property
    def calibrating(self) -> Encoded:
        """The documents that calibrate: all of them if they are dealt into folds, otherwise those set aside for it."""
        if self.folds is not None:
            return self.train
        return self.validation if self.calibration is None else self.calibration

    def training_only(self) -> TrainingData:
        """The training part alone."""
        return TrainingData(self.train, _empty(self.train))

    def without_fold(self, fold: int) -> TrainingData:
        """One fold to validate on, the others to train on."""
        assert self.folds is not None
        inside = self.folds == fold
        return TrainingData(self.train.take_documents(~inside), self.train.take_documents(inside))

    def reduced_to(self, keywords: KeywordSet, special_ids: Sequence[int]) -> TrainingData:
        """What a biased model is trained on: of each document, its keywords alone."""
        train, validation = (keywords_only(part, keywords, special_ids) for part in (self.train, self.validation))
        return replace(self, train=train, validation=validation)

    def containing(self, keywords: KeywordSet) -> TrainingData:
        """The same with those training documents alone that contain a keyword.

        Raises:
            DataError: When none does.
        """
        found = contain_keywords(self.train, keywords)
        if not found.any():
            raise DataError("no training document contains a keyword; set baselines.residual_documents=all")
        return replace(self, train=self.train.take_documents(found))


def encode_training_data(
    documents: Documents, classes: Sequence[str], settings: Settings, tokenizer: Any, max_length: int
) -> TrainingData:
    """Tokenize the documents and decide which of them train, validate and calibrate."""
    assert documents.labels is not None
    if settings.model.head == "regression":
        labels: Any = np.array(documents.labels, dtype=np.float32)
    else:
        labels = (label_matrix if documents.is_multi_label else class_indices)(documents.labels, classes)
    encoded = encode(
        tokenizer, documents.texts, documents.pairs, max_length, labels=labels, window_overlap=settings.model.overlap
    )
    seed = settings.training.seed
    strata = _strata(documents)
    if uses_cross_fitting(settings, len(documents), int(encoded.lengths.sum())):
        largest = max(Counter(strata).values())
        if largest < 2:
            raise _nothing_to_hold_out()
        folds = stratified_folds(strata, min(FOLDS, largest), seed)
        return TrainingData(encoded, _empty(encoded), None, folds)
    if settings.data.validation_fraction == 0.0:
        _check_nothing_to_choose(settings)
        return TrainingData(encoded, _empty(encoded))
    train, held_out = validation_split(strata, settings.data.validation_fraction, seed)
    if not held_out:
        raise _nothing_to_hold_out()
    parts = [train, *_calibration_split(strata, held_out, settings)]
    chosen, validation, *calibration = [encoded.take_documents(_flags(rows, len(documents))) for rows in parts]
    return TrainingData(chosen, validation, calibration[0] if calibration else None)


def _strata(documents: Documents) -> Sequence[object]:
    """What documents are spread evenly by: their classes.

    Those with several labels are held out at random. A spread that keeps rare labels for training would leave their
    documents, which are the hardest, out of the calibration, and the promise would be too good.
    """
    assert documents.labels is not None
    return [""] * len(documents) if documents.is_multi_label else documents.labels


def _empty(encoded: Encoded) -> Encoded:
    return encoded.take_documents(np.zeros(encoded.n_documents, dtype=bool))


def _flags(rows: Sequence[int], count: int) -> npt.NDArray[np.bool_]:
    flags = np.zeros(count, dtype=bool)
    flags[np.asarray(rows, dtype=np.int64)] = True
    return flags


def _nothing_to_hold_out() -> DataError:
    return DataError("no document can be held out for validation; give at least two documents of some class")


def _check_nothing_to_choose(settings: Settings) -> None:
    own = METHODS.get(settings.training.method).own_score is not None
    if settings.detection.score == "auto" and not own and settings.model.head != "regression":
        raise ConfigError(
            "detection.score=auto is chosen on held-out documents, and data.validation_fraction=0 holds none out; "
            "name a score, such as --score max-prob, or hold some out"
        )


def _calibration_split(labels: Sequence[object], held_out: list[int], settings: Settings) -> list[list[int]]:
    """Validation rows and calibration rows; the former alone if the latter would be too few to promise much."""
    share = settings.data.calibration_share
    if settings.model.head == "regression" or share * len(held_out) < LEAST_CALIBRATION:
        return [held_out]
    names = [str(labels[row]) for row in held_out]
    chosen, kept = validation_split(names, share, settings.training.seed, keep_one=False)
    return [[held_out[place] for place in chosen], [held_out[place] for place in kept]]
