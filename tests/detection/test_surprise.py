"""The common scale of scores by hand, and sums on it."""

import math

import numpy as np
import pytest

from masker.detection.conformal import conformal_p_values
from masker.detection.surprise import JointSurprise, Surprise

REFERENCE = np.arange(1.0, 21.0)


def test_by_hand():
    """Scores 1 ... 20: the tail is the two highest, q = 18, excesses 1 and 2, so the width is 1.5.

    p(18) = (1 + 3) / 21. Of 21: log(21 / 4) + 3 / 1.5. Between 10 and 11: the mean of log(21 / 12) and log(21 / 11).
    """
    u = Surprise(REFERENCE)
    expected = [math.log(21 / 4), math.log(21 / 4) + 2, (math.log(21 / 12) + math.log(21 / 11)) / 2, 0.0]
    np.testing.assert_allclose(u(np.array([18.0, 21.0, 10.5, 0.0])), expected)


def test_against_the_p_value_below_the_tail():
    draw = np.random.default_rng(0)
    reference = np.sort(draw.normal(size=300))
    points = reference[:270]
    np.testing.assert_allclose(Surprise(reference)(points), -np.log(conformal_p_values(points, reference)))


def test_the_order_of_scores_stays():
    draw = np.random.default_rng(0)
    scores = np.sort(draw.normal(size=500) * 4)
    assert (np.diff(Surprise(draw.normal(size=100))(scores)) >= 0).all()


@pytest.mark.parametrize("reference", [np.zeros(30), np.array([2.0]), np.r_[np.zeros(29), 1.0]])
def test_equal_references_still_rank_what_lies_beyond(reference):
    u = Surprise(reference)(np.array([reference.max(), reference.max() + 1, reference.max() + 2]))
    assert np.isfinite(u).all() and u[0] < u[1] < u[2]


def test_joint_by_hand():
    """Lead: u(18) = log(21 / 4). Guard, offset log 4: u(18) - log 4 = log(21 / 16); u(10) = log(21 / 12) is less."""
    joint = JointSurprise({"a": REFERENCE, "b": REFERENCE}, {"a": 0.0, "b": math.log(4)})
    scores = joint({"a": np.array([18.0, 18.0]), "b": np.array([18.0, 10.0])})
    np.testing.assert_allclose(scores, [math.log(21 / 4) + math.log(21 / 16), math.log(21 / 4)])


def test_offsets_of_zero_are_the_statistic_of_fisher():
    """Twice the sum of -log p is chi-squared with 2 * 2 degrees of freedom; its mean is 4, so that of the sum is 2."""
    draw = np.random.default_rng(0)
    references = {name: draw.normal(size=4000) for name in "ab"}
    joint = JointSurprise(references, {"a": 0.0, "b": 0.0})
    assert joint({name: draw.normal(size=20000) for name in "ab"}).mean() == pytest.approx(2.0, abs=0.1)
