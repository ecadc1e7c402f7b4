"""What is shown of known documents, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from masker.analysis.answers import (
    Answered,
    class_figures,
    confusion_of,
    describe_answers,
    held_out_answers,
    mix_ups,
    reliability_bins,
)
from masker.analysis.report_data import Confusion
from masker.detection.calibration import Calibration
from masker.detection.detector import Detector, HeldOut, Judgement
from masker.detection.scores.max_probability import MaxProbabilityScore
from masker.metrics import binomial_interval

CLASSES = ["food", "space", "sport", "music"]


def judged(predicted, rejected, confidence=None) -> Judgement:
    count = len(predicted)
    sure = np.full(count, 0.9) if confidence is None else np.array(confidence)
    return Judgement(
        sure[:, None], np.array(predicted), sure, np.zeros(count), np.ones(count), np.array(rejected, dtype=bool)
    )


def answered(labels, predicted, rejected, confidence=None) -> Answered:
    return Answered("t", False, True, np.array(labels), judged(predicted, rejected, confidence))


#: Food: right, right and rejected, taken for space. Space: right. Sport: taken for space.
SOME = answered([0, 0, 0, 1, 2], [0, 0, 1, 1, 1], [0, 1, 0, 0, 0])


def test_figures_of_classes_that_occur():
    """Food: 2 of 3 right, 1 of 3 rejected; no document of music, so no row."""
    food, space, sport = class_figures(SOME, CLASSES)
    assert (food.name, food.documents) == ("food", 3)
    assert food.right == binomial_interval(2, 3).as_dict() and food.rejected == binomial_interval(1, 3).as_dict()
    assert (space.right["value"], sport.right["value"]) == (1.0, 0.0)


def test_the_confusion_of_very_many_classes_is_no_matrix():
    """The matrix of a hundred thousand classes would have 80 GB."""
    labels = np.arange(0, 100_000, 1000)
    found = confusion_of(answered(labels, labels + 1, labels < 0), [str(n) for n in range(100_000)], {})
    assert len(found.rows) == 200 and found.columns[:2] == ["0", "1"] and found.columns[-1] == "rejected"
    assert found.cells == [[2 * n, 2 * n + 1, 1] for n in range(100)]


def test_the_confusion_matrix_has_a_column_for_rejection_and_a_row_for_foreign_sets():
    found = confusion_of(SOME, CLASSES, {"reviews": judged([1, 2, 2], [0, 1, 1])})
    assert found.rows == ["food", "space", "sport", "reviews"], "no document and no answer is music"
    assert found.columns == ["food", "space", "sport", "rejected"]
    assert found.cells == [
        [0, 0, 1], [0, 1, 1], [0, 3, 1],
        [1, 1, 1],
        [2, 1, 1],
        [3, 1, 1], [3, 3, 2],
    ]  # fmt: skip


def test_a_class_that_is_only_answered_has_a_row_and_a_column():
    found = confusion_of(answered([0, 1], [0, 3], [0, 0]), CLASSES, {})
    assert found.rows == ["food", "space", "music"] and found.columns == ["food", "space", "music", "rejected"]
    assert found.cells == [[0, 0, 1], [1, 2, 1]]


def test_bins_of_equal_width_up_to_and_including_their_upper_end():
    """0.5 and 0.41 are in (0.4, 0.5]; 1.0 and 0.95 in (0.9, 1]; 0 in the first."""
    bins = reliability_bins(np.array([0.5, 0.41, 1.0, 0.95, 0.0]), np.array([True, False, True, True, False]))
    assert [(one.confidence, one.documents, one.right["value"]) for one in bins] == [
        (0.0, 1, 0.0),
        (0.455, 2, 0.5),
        (0.975, 2, 1.0),
    ]


def test_description():
    found = describe_answers(SOME, CLASSES, {})
    assert (found.documents, found.majority) == (5, 0.6)
    assert found.right == binomial_interval(3, 5).as_dict()
    assert [one.documents for one in found.reliability] == [5]


def test_held_out_documents_are_judged_by_the_rule_that_they_set():
    scores = np.arange(1.0, 41.0)
    predicted, labels = np.zeros(40, dtype=int), np.repeat([0, 1], 20)
    rule = Calibration.fit(scores, predicted, 2, 0.05, class_conditional=False)
    held_out = HeldOut({"max-prob": scores}, predicted, True, labels, np.full(40, 0.7))
    detector = Detector(MaxProbabilityScore("multi-class"), rule, 1.0, held_out, "multi-class")
    found = held_out_answers(detector)
    assert found is not None and found.held_out and found.separate
    assert found.right.mean() == 0.5 and (found.confidence == 0.7).all()
    assert found.judged.rejected.sum() == int((scores > rule.threshold).sum()) <= 2
    assert found.judged.p_values[0] == pytest.approx(1.0)
    unknown = replace(detector, held_out=HeldOut({"max-prob": scores}, predicted, True))
    assert held_out_answers(unknown) is None


def test_mix_ups_are_wrong_answers_to_known_documents():
    """Foreign rows, rejected documents and right answers are none, whatever the sets are called."""
    confusion = Confusion(
        ["a", "rejected", "a"], ["a", "rejected", "rejected"],
        [[0, 0, 9], [0, 1, 2], [0, 2, 5], [1, 0, 3], [1, 1, 4], [2, 1, 7], [2, 2, 8]],
    )  # fmt: skip
    assert mix_ups(confusion) == [
        {"true": "rejected", "answer": "a", "count": 3},
        {"true": "a", "answer": "rejected", "count": 2},
    ]
