"""Figures of label sets, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from masker.errors import DataError
from masker.metrics import label_set_report, label_table, micro_f1, missed_shares

#: {0, 1} given {0}; {1} given {1, 2}; {2} given nothing; none given {0}. Label 3 occurs nowhere.
TRUE = np.array([[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]])
GIVEN = np.array([[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]])


def test_figures_by_hand():
    """True positives 1, 1, 0; true 1, 2, 1; given 2, 1, 1.

    Micro F1 is 2 * 2 / (4 + 4) = 1/2. F1 of the labels is 2/3, 2/3 and 0, their mean 4/9. No document has all labels
    right. Missed shares are 1/2, 0 and 1 of the three that have a label, their mean 1/2.
    """
    report = label_set_report(TRUE, GIVEN, resamples=20)
    assert {name: figure.value for name, figure in report.items()} == {
        "micro_f1": 0.5,
        "macro_f1": pytest.approx(4 / 9),
        "exact_match": 0.0,
        "missed_share": 0.5,
    }
    assert micro_f1(TRUE, GIVEN) == 0.5
    assert missed_shares(TRUE, GIVEN).tolist() == [0.5, 0.0, 1.0]
    assert all(figure.low <= figure.value <= figure.high for figure in report.values())


def test_table_by_hand():
    table = label_table(TRUE, GIVEN, ["a", "b", "c", "d"])
    assert table[0] == {
        "label": "a", "documents": 1, "given": 2, "precision": 0.5, "recall": 1.0, "f1": pytest.approx(2 / 3),
    }  # fmt: skip
    assert table[2]["f1"] == 0.0
    assert table[3] == {"label": "d", "documents": 0, "given": 0, "precision": None, "recall": None, "f1": None}


def test_agrees_with_scikit_learn():
    from sklearn.metrics import f1_score

    draw = np.random.default_rng(0)
    true, given = draw.random((2, 50, 6)) < 0.3
    report = label_set_report(true, given, resamples=1)
    assert report["micro_f1"].value == pytest.approx(f1_score(true, given, average="micro"))
    assert report["macro_f1"].value == pytest.approx(f1_score(true, given, average="macro"))


def test_nothing_to_find():
    nothing = np.zeros((3, 2))
    assert micro_f1(nothing, nothing) == 1.0
    with pytest.raises(DataError, match="no test document has a label"):
        label_set_report(nothing, nothing, resamples=1)
    with pytest.raises(DataError, match="same shape"):
        micro_f1(nothing, nothing[:2])


def test_documents_and_labels_of_different_numbers():
    """One document, three labels, two of them true, one of these given: 2 * 1 / (2 + 1) and a table of three rows."""
    true, given = np.array([[1, 1, 0]]), np.array([[1, 0, 0]])
    assert micro_f1(true, given) == pytest.approx(2 / 3)
    assert [row["f1"] for row in label_table(true, given, ["a", "b", "c"])] == [1.0, 0.0, None]


def test_a_label_mentioned_once_counts_as_zero():
    """F1 of label a is 1; b is true once and never given: 0. The mean is 1/2; of two documents one is exact."""
    report = label_set_report(np.array([[1, 0], [1, 1]]), np.array([[1, 0], [1, 0]]), resamples=5)
    assert (report["macro_f1"].value, report["exact_match"].value) == (0.5, 0.5)
    assert report == label_set_report(np.array([[1, 0], [1, 1]]), np.array([[1, 0], [1, 0]]), resamples=5, seed=0)


def test_a_resample_of_documents_without_labels_is_right_where_nothing_is_given():
    """One document has a label and gets it, nine have none and get none: every resample has F1 1."""
    true = np.zeros((10, 2))
    true[0, 0] = 1
    report = label_set_report(true, true, resamples=200)
    assert report["micro_f1"] == report["macro_f1"]
    assert (report["macro_f1"].low, report["macro_f1"].high) == (1.0, 1.0)
