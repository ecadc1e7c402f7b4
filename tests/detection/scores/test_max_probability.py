"""The score 1 - max p, by hand and where subtraction would fail."""

import math

import numpy as np
import pytest

from masker.config import build_settings
from masker.detection.score import build_score
from masker.detection.scores.max_probability import class_probabilities, max_probability_score
from masker.inference.outputs import Outputs

LOG3 = math.log(3)
HEADS = ["one-vs-rest", "multi-class"]


def test_one_vs_rest_by_hand():
    """Sigmoids of (log 3, 0) are 3/4, 1/2: score 1/4. Of (-log 3, -2 log 3): 1/4, 1/10: score 3/4."""
    logits = np.array([[LOG3, 0.0], [-LOG3, -2 * LOG3]])
    np.testing.assert_allclose(class_probabilities(logits, "one-vs-rest"), [[0.75, 0.5], [0.25, 0.1]])
    assert max_probability_score(logits, "one-vs-rest") == pytest.approx([0.25, 0.75])


def test_multi_class_by_hand():
    """Softmax of (log 3, 0, 0) is (3, 1, 1) / 5: score 2/5. Equal logits: 1 - 1/3."""
    logits = np.array([[LOG3, 0.0, 0.0], [2.0, 2.0, 2.0]])
    np.testing.assert_allclose(class_probabilities(logits, "multi-class"), [[0.6, 0.2, 0.2], [1 / 3] * 3])
    assert max_probability_score(logits, "multi-class") == pytest.approx([0.4, 2 / 3])


def test_one_vs_rest_may_reject_all_classes():
    probabilities = class_probabilities(np.array([[-8.0, -9.0]]), "one-vs-rest")
    assert probabilities.sum() < 0.001
    assert max_probability_score(np.array([[-8.0, -9.0]]), "one-vs-rest")[0] > 0.999


@pytest.mark.parametrize("head", HEADS)
def test_equals_one_minus_the_highest_probability(head):
    logits = np.random.default_rng(0).normal(scale=3, size=(200, 6))
    expected = 1 - class_probabilities(logits, head).max(axis=1)
    np.testing.assert_allclose(max_probability_score(logits, head), expected, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("head", HEADS)
def test_saturated_logits_are_still_ranked(head):
    """1 - p is exactly 0 from a logit of about 37 on in double precision; the score goes on falling."""
    logits = np.array([[40.0, 0.0], [60.0, 0.0], [80.0, 0.0]], dtype=np.float32)
    assert (1 - class_probabilities(logits, head).max(axis=1) == 0).all()
    scores = max_probability_score(logits, head)
    assert (scores > 0).all()
    assert (np.diff(scores) < 0).all()
    assert scores == pytest.approx(np.exp([-40.0, -60.0, -80.0]), rel=1e-6)


@pytest.mark.parametrize("head", HEADS)
def test_ties_for_the_best_class_count_once(head):
    """Two equal best logits of 0: sigmoid 1/2 each, softmax 1/2 each: score 1/2 in both."""
    assert max_probability_score(np.zeros((1, 2)), head) == pytest.approx([0.5])


@pytest.mark.parametrize("head", HEADS)
def test_extreme_logits_stay_finite(head):
    logits = np.array([[1000.0, -1000.0], [-1000.0, -1000.0]])
    assert np.isfinite(max_probability_score(logits, head)).all()
    assert np.isfinite(class_probabilities(logits, head)).all()


def test_softmax_rows_sum_to_one():
    logits = np.random.default_rng(0).normal(scale=20, size=(50, 4)).astype(np.float32)
    np.testing.assert_allclose(class_probabilities(logits, "multi-class").sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("head", HEADS)
def test_logits_are_left_alone(head):
    logits = np.array([[3.0, 1.0]])
    max_probability_score(logits, head)
    np.testing.assert_array_equal(logits, [[3.0, 1.0]])


@pytest.mark.parametrize("head", HEADS)
def test_by_its_name_with_the_head_of_the_model(head):
    score, logits = build_score("max-prob", None, build_settings({"model": {"head": head}})), np.array([[LOG3, 0.0]])
    np.testing.assert_array_equal(score.ood_score(Outputs(logits)), max_probability_score(logits, head))
