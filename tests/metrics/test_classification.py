"""Accuracy, macro F1 and calibration error by hand and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from masker.errors import ConfigError, DataError
from masker.metrics import accuracy, classification_report, expected_calibration_error, macro_f1

CLASSES = ["a", "b", "c", "d"]
TRUE = ["a", "a", "a", "b", "b", "c"]
PREDICTED = ["a", "a", "b", "b", "c", "c"]


def test_accuracy_worked_by_hand():
    """Rows 1, 2, 4 and 6 are right: 4 / 6."""
    assert accuracy(TRUE, PREDICTED) == pytest.approx(4 / 6)


def test_macro_f1_worked_by_hand():
    """2 TP / (true + predicted): a 4 / (3 + 2), b 2 / (2 + 2), c 2 / (1 + 2); d is in neither and left out.

    (4/5 + 1/2 + 2/3) / 3 = 59/90
    """
    assert macro_f1(TRUE, PREDICTED, CLASSES) == pytest.approx(59 / 90)


def test_macro_f1_counts_a_class_only_predicted_as_zero():
    """a: 2 / (2 + 1) = 2/3; b is predicted once and never true: 0; mean 1/3."""
    assert macro_f1(["a", "a"], ["a", "b"], ["a", "b", "c"]) == pytest.approx(1 / 3)


@given(st.lists(st.tuples(st.sampled_from(CLASSES), st.sampled_from(CLASSES)), min_size=1, max_size=40))
@settings(max_examples=80, deadline=None)
def test_agrees_with_scikit_learn(rows):
    """Without ``labels`` scikit-learn averages over the labels in either column, as we do."""
    true, predicted = (list(column) for column in zip(*rows, strict=True))
    expected = f1_score(true, predicted, average="macro", zero_division=0)
    assert macro_f1(true, predicted, CLASSES) == pytest.approx(expected)
    assert macro_f1(true, predicted, CLASSES[::-1]) == pytest.approx(expected)
    assert accuracy(true, predicted) == pytest.approx(accuracy_score(true, predicted))


def test_calibration_error_worked_by_hand():
    """Two bins, (0, 0.5] and (0.5, 1].

    First: confidences 0.3 and 0.5 (the edge belongs below), one right: |1/2 - 0.4| = 0.1, weight 2/5
    Second: 0.6, 0.9, 0.9, two right: |2/3 - 0.8| = 2/15, weight 3/5
    0.1 * 2/5 + 2/15 * 3/5 = 0.04 + 0.08 = 0.12
    """
    confidence, correct = [0.3, 0.5, 0.6, 0.9, 0.9], [False, True, False, True, True]
    assert expected_calibration_error(confidence, correct, bins=2) == pytest.approx(0.12)


def test_calibration_error_in_one_bin_is_the_gap_of_the_means():
    """Means: confidence 0.64, accuracy 3/5; gap 0.04."""
    confidence, correct = [0.3, 0.5, 0.6, 0.9, 0.9], [0, 1, 0, 1, 1]
    assert expected_calibration_error(confidence, correct, bins=1) == pytest.approx(0.04)


def test_calibration_error_at_the_ends():
    assert expected_calibration_error([1.0, 1.0], [1, 1]) == 0.0
    assert expected_calibration_error([0.0, 0.0], [0, 0]) == 0.0
    assert expected_calibration_error([1.0], [0]) == 1.0
    assert expected_calibration_error([1.0000001], [1]) == 0.0


def test_bin_edges_belong_to_the_lower_bin():
    """0.7 and 0.65 share (0.6, 0.7] although 0.7 * 10 rounds to above 7: surplus 0.3 - 0.65, halved, 0.175."""
    assert expected_calibration_error([0.7, 0.65], [1, 0], bins=10) == pytest.approx(0.175)


@given(st.integers(1, 20), st.integers(0, 999))
@settings(max_examples=50, deadline=None)
def test_calibration_error_agrees_with_the_definition(bins, seed):
    generator = np.random.default_rng(seed)
    confidence, correct = generator.random(60).round(2), generator.random(60) < 0.6
    expected = 0.0
    for b in range(1, bins + 1):
        inside = (confidence > (b - 1) / bins) & (confidence <= b / bins)
        if b == 1:
            inside |= confidence == 0.0
        if inside.any():
            expected += inside.mean() * abs(correct[inside].mean() - confidence[inside].mean())
    assert expected_calibration_error(confidence, correct, bins) == pytest.approx(expected)


def test_report_values_equal_the_plain_functions():
    confidence = np.array([0.9, 0.8, 0.6, 0.7, 0.4, 0.95])
    report = classification_report(TRUE, PREDICTED, confidence, CLASSES, resamples=50, seed=0)
    correct = np.array(TRUE) == np.array(PREDICTED)
    assert list(report) == ["accuracy", "macro_f1", "ece"]
    assert report["accuracy"].value == pytest.approx(accuracy(TRUE, PREDICTED))
    assert report["macro_f1"].value == pytest.approx(macro_f1(TRUE, PREDICTED, CLASSES))
    assert report["ece"].value == pytest.approx(expected_calibration_error(confidence, correct))
    assert all(interval.low <= interval.high for interval in report.values())


def test_report_equals_a_naive_bootstrap():
    generator = np.random.default_rng(4)
    true, predicted = generator.choice(CLASSES, 40), generator.choice(CLASSES, 40)
    confidence = generator.random(40)
    report = classification_report(list(true), list(predicted), confidence, CLASSES, resamples=30, seed=9)
    draws = np.random.default_rng(9)
    f1, ece = [], []
    for _ in range(30):
        rows = draws.integers(0, 40, size=40)
        f1.append(macro_f1(list(true[rows]), list(predicted[rows]), CLASSES))
        ece.append(expected_calibration_error(confidence[rows], (true == predicted)[rows]))
    assert [report["macro_f1"].low, report["macro_f1"].high] == pytest.approx(np.quantile(f1, [0.025, 0.975]))
    assert [report["ece"].low, report["ece"].high] == pytest.approx(np.quantile(ece, [0.025, 0.975]))


def test_report_is_determined_by_its_seed():
    arguments = (TRUE, PREDICTED, [0.9, 0.8, 0.6, 0.7, 0.4, 0.95], CLASSES)
    first, again, other = (classification_report(*arguments, resamples=40, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_unknown_true_labels_are_named_and_the_error_points_to_ood():
    with pytest.raises(DataError, match=r"received 3 rows labelled 'x', 'y'\..*--ood") as caught:
        classification_report(["a", "x", "y", "x"], ["a"] * 4, [0.5] * 4, CLASSES)
    assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match="--ood"):
        macro_f1(["x"], ["a"], CLASSES)


def test_many_unknown_labels_are_abbreviated():
    labels = [f"new{number}" for number in range(8)]
    with pytest.raises(DataError, match="'new4' and 3 more"):
        macro_f1(labels, ["a"] * 8, CLASSES)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((["a"], ["z"], [0.5], CLASSES), "predicted labels must be among the model's 4 classes; received 'z'"),
        ((["a"], ["a"], [0.5], ["a", "b", "a"]), "classes must be distinct; received more than once: 'a'"),
        ((["a", "b"], ["a"], [0.5], CLASSES), "received true: 2, predicted: 1, confidence: 1"),
        ((["a"], ["a"], [0.5, 0.5], CLASSES), "received true: 1, predicted: 1, confidence: 2"),
        ((["a"], ["a"], [7.5], CLASSES), r"confidence must lie in \[0, 1\]; received 7.5 at position 0.*not a logit"),
        ((["a"], ["a"], [np.nan], CLASSES), "confidence must not contain NaN"),
        (([], [], [], CLASSES), "confidence must hold at least one number"),
    ],
)
def test_bad_rows_are_refused(arguments, words):
    with pytest.raises(DataError, match=words):
        classification_report(*arguments)


def test_empty_and_uneven_columns_are_refused():
    with pytest.raises(DataError, match="at least one row; received none"):
        accuracy([], [])
    with pytest.raises(DataError, match="received true: 1, predicted: 2"):
        accuracy(["a"], ["a", "b"])


def test_bad_calibration_input_is_refused():
    with pytest.raises(ConfigError, match="bins must be at least 1; received 0"):
        expected_calibration_error([0.5], [1], bins=0)
    with pytest.raises(DataError, match="correct must hold booleans, or 0 and 1; received 2"):
        expected_calibration_error([0.5], [2])
    with pytest.raises(DataError, match="received confidence: 1, correct: 2"):
        expected_calibration_error([0.5], [1, 0])
    with pytest.raises(DataError, match="correct must hold booleans, or 0 and 1; received 2"):
        expected_calibration_error([0.5, 0.5], [2, 3])
    with pytest.raises(DataError, match="correct must not contain NaN or infinite values"):
        expected_calibration_error([0.5], [np.inf])


@pytest.mark.parametrize("beyond", [-0.5, -2e-6, 1.0 + 2e-6, 1.5, 2.5, np.inf])
def test_confidence_beyond_rounding_is_refused_and_the_first_is_named(beyond):
    words = "NaN or infinite" if np.isinf(beyond) else rf"received {beyond:g} at position 1"
    with pytest.raises(DataError, match=words):
        expected_calibration_error([0.5, beyond, 9.0], [1, 1, 1])


def test_confidence_within_rounding_is_clipped():
    """Five millionths of a tenth: a wrong answer at -5e-7 costs nothing, a right one at 1 + 5e-7 neither."""
    assert expected_calibration_error([-5e-7, 1 + 5e-7], [0, 1]) == 0.0


def test_fifteen_bins_unless_asked_otherwise():
    """0.34 and 0.395 share the bin (5/15, 6/15] = (0.333, 0.4]: surpluses 0.66 and -0.395, halved 0.1325.

    Of 14 bins one ends at 5/14 = 0.357, of 16 one at 6/16 = 0.375: the two would be apart.
    """
    confidence, correct = [0.34, 0.395], [1, 0]
    assert expected_calibration_error(confidence, correct) == pytest.approx(0.1325)
    report = classification_report(["a", "a"], ["a", "b"], confidence, CLASSES, resamples=2)
    assert report["ece"].value == pytest.approx(0.1325)
    assert report == classification_report(["a", "a"], ["a", "b"], confidence, CLASSES, resamples=2, seed=0)


def test_only_what_is_repeated_or_left_out_is_named():
    with pytest.raises(DataError, match=r"more than once: 'a'\. Drop"):
        macro_f1(["a"], ["a"], ["a", "b", "a"])
    with pytest.raises(DataError, match=r"'n3', 'n4'\. Texts"):
        macro_f1([f"n{number}" for number in range(5)], ["a"] * 5, CLASSES)


def test_labels_of_numpy_are_named_like_others():
    with pytest.raises(DataError, match="labelled 'x'"):
        macro_f1(list(np.array(["x"])), ["a"], CLASSES)
    with pytest.raises(DataError, match="labelled 7"):
        macro_f1([7], ["a"], CLASSES)
