"""One metric for each kind of head."""

from __future__ import annotations

import numpy as np
import pytest

from masker.training.validation_metric import lost_and_won, metric_name, right_answers, validation_metric

LABELS = np.array([0, 1, 1])
LOGITS = np.array([[2.0, 1.0], [0.0, 3.0], [1.0, 0.0]])
FLAGS = np.array([[1, 1], [0, 1], [0, 0]])


def test_figures_by_hand():
    """Two of three classes are right. At logits above 0, labels given are {0, 1}, {1} and {0}: 2 * 3 / (3 + 4)."""
    assert validation_metric(LABELS, LOGITS, "multi-class") == {"accuracy": pytest.approx(2 / 3)}
    assert validation_metric(FLAGS, LOGITS, "multi-label") == {"micro_f1": pytest.approx(6 / 7)}
    numbers = np.array([1.0, 2.0, 3.0])
    assert validation_metric(numbers, 2 * numbers[:, None], "regression") == {"pearson": pytest.approx(1.0)}
    assert [metric_name(head) for head in ("one-vs-rest", "multi-label", "regression")] == [
        "accuracy",
        "micro_f1",
        "pearson",
    ]


def test_every_label_must_be_right():
    assert right_answers(FLAGS, LOGITS, "multi-label").tolist() == [True, True, False]
    assert right_answers(LABELS, LOGITS, "multi-class").tolist() == [True, True, False]


def test_more_lost_than_chance_explains():
    """Four documents lost and one won: 3 > sqrt(5). Three lost and one won: 2 is not above sqrt(4)."""
    labels = np.zeros(5, dtype=int)
    right, wrong = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    start = np.stack([right, right, right, right, wrong])
    assert lost_and_won(labels, start[:, ::-1], start, "multi-class") == (4, 1, True)
    assert lost_and_won(labels[1:], start[1:, ::-1], start[1:], "multi-class") == (3, 1, False)
