"""How good the answers to known documents are: by class, by confidence, and what is taken for what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.analysis.report_data import ClassFigures, Confusion, KnownDocuments, ReliabilityBin
from masker.detection.arrays import Floats, Labels
from masker.detection.detector import Detector, Judgement
from masker.metrics import binomial_interval

#: The column of rejected documents.
REJECTED = "rejected"
#: Bins of a reliability diagram, of equal width.
RELIABILITY_BINS = 10


@dataclass(frozen=True)
class Answered:
    """Known documents and what the model says of them."""

    name: str
    held_out: bool
    separate: bool
    labels: Labels  # (n,)
    judged: Judgement
    trained_on: bool = False  # they are the training documents themselves

    @property
    def confidence(self) -> Floats:
        """(n,) of the predictions."""
        return np.asarray(self.judged.probabilities.max(axis=1))

    @property
    def right(self) -> npt.NDArray[np.bool_]:
        """(n,) whether the prediction is the label."""
        return np.asarray(self.judged.predicted == self.labels)


def held_out_answers(detector: Detector) -> Answered | None:
    """What the model knows of the documents that calibrated it; ``None`` if their classes were not kept."""
    seen, rule = detector.held_out, detector.calibration
    if seen.labels is None or seen.confidence is None:
        return None
    judged = Judgement(
        seen.confidence[:, None],  # of the probabilities only the highest was kept
        rule.predicted,
        seen.confidence,
        rule.scores,
        rule.p_values(rule.scores, rule.predicted),
        rule.rejects(rule.scores, rule.predicted),
    )
    return Answered("held-out documents", True, seen.separate, seen.labels, judged)


def describe_answers(answered: Answered, classes: Sequence[str], foreign: Mapping[str, Judgement]) -> KnownDocuments:
    """All that is shown of known documents; foreign ones have a row in the confusion matrix."""
    labels = answered.labels
    return KnownDocuments(
        answered.name,
        answered.held_out,
        answered.separate,
        len(labels),
        binomial_interval(int(answered.right.sum()), len(labels)).as_dict(),
        float(np.bincount(labels).max() / len(labels)),
        class_figures(answered, classes),
        confusion_of(answered, classes, foreign),
        reliability_bins(answered.confidence, answered.right),
        answered.trained_on,
    )


def class_figures(answered: Answered, classes: Sequence[str]) -> list[ClassFigures]:
    """Accuracy and false alarms of each class that occurs, with exact intervals."""
    rows = []
    for index, name in enumerate(classes):
        here = answered.labels == index
        count = int(here.sum())
        if count:
            shares = (int(flags[here].sum()) for flags in (answered.right, answered.judged.rejected))
            right, rejected = (binomial_interval(hits, count).as_dict() for hits in shares)
            rows.append(ClassFigures(name, count, right, rejected))
    return rows


def confusion_of(answered: Answered, classes: Sequence[str], foreign: Mapping[str, Judgement]) -> Confusion:
    """Answers by true class; only classes that occur among the labels or the answers have a row or column."""
    n_classes = len(classes)
    sets = [(answered.labels, answered.judged)]
    sets += [
        (np.full(len(judged.predicted), n_classes + place), judged) for place, judged in enumerate(foreign.values())
    ]
    # Pairs and not a matrix: that of ten thousand classes has a hundred million cells.
    pairs = [np.stack([labels, np.where(judged.rejected, n_classes, judged.predicted)]) for labels, judged in sets]
    cells, counts = np.unique(np.concatenate(pairs, axis=1), axis=1, return_counts=True)
    inside = np.unique(cells[cells < n_classes])
    kept_rows = [*inside.tolist(), *range(n_classes, n_classes + len(foreign))]
    kept_columns = [*inside.tolist(), n_classes]
    rows, columns = np.searchsorted(kept_rows, cells[0]), np.searchsorted(kept_columns, cells[1])
    names = [*classes, *foreign]
    return Confusion(
        [names[row] for row in kept_rows],
        [*(classes[column] for column in inside), REJECTED],
        [[int(one) for one in cell] for cell in zip(rows, columns, counts, strict=True)],
    )


def mix_ups(confusion: Confusion) -> list[dict[str, Any]]:
    """Wrong answers to known documents that were not rejected, the most frequent first."""
    known = len(confusion.columns) - 1  # rows of foreign sets follow, and a column of what is rejected
    wrong: list[dict[str, Any]] = [
        {"true": confusion.rows[row], "answer": confusion.columns[column], "count": count}
        for row, column, count in confusion.cells
        if row < known and column < known and row != column
    ]
    return sorted(wrong, key=lambda one: -one["count"])


def reliability_bins(confidence: Floats, right: npt.NDArray[np.bool_]) -> list[ReliabilityBin]:
    """Bins of equal width; empty ones are left out."""
    numbers = np.clip(np.ceil(confidence * RELIABILITY_BINS) - 1, 0, RELIABILITY_BINS - 1)
    bins = []
    for number in np.unique(numbers):
        here = numbers == number
        share = binomial_interval(int(right[here].sum()), int(here.sum())).as_dict()
        bins.append(ReliabilityBin(round(float(confidence[here].mean()), 4), int(here.sum()), share))
    return bins
