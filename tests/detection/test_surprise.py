"""The common scale of scores by hand, and sums on it."""

import math

import numpy as np
import pytest

from masker.detection import surprise
from masker.detection.conformal import conformal_p_values, conformal_threshold
from masker.detection.surprise import JointSurprise, Surprise

REFERENCE = np.arange(1.0, 21.0)


def test_by_hand():
    """Scores 1 ... 20: the tail is the eight highest, q = 12, excesses 1 to 8, so the width is 4.5.

    p(12) = (1 + 9) / 21. Of 21: log(21 / 10) + 9 / 4.5. Between 10 and 11: the mean of log(21 / 12) and log(21 / 11).
    """
    u = Surprise(REFERENCE)
    expected = [math.log(21 / 10), math.log(21 / 10) + 2, (math.log(21 / 12) + math.log(21 / 11)) / 2, 0.0]
    np.testing.assert_allclose(u(np.array([12.0, 21.0, 10.5, 0.0])), expected)


def test_the_tail_of_few_and_of_many():
    """Half of 10 documents: q = 5, width (1 + ... + 5) / 5 = 3, p(5) = 7 / 11. A tenth of 200: q = 180, width 10.5."""
    np.testing.assert_allclose(Surprise(np.arange(1.0, 11.0))(np.array([8.0])), math.log(11 / 7) + 1)
    np.testing.assert_allclose(Surprise(np.arange(1.0, 201.0))(np.array([201.0])), math.log(201 / 22) + 2)


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
    """Lead: u(12) = log(21 / 10). Guard, offset log 2: u(12) - log 2 = log(21 / 20); u(10) = log(21 / 12) is less."""
    joint = JointSurprise({"a": REFERENCE, "b": REFERENCE}, {"a": 0.0, "b": math.log(2)})
    scores = joint({"a": np.array([12.0, 12.0]), "b": np.array([12.0, 10.0])})
    np.testing.assert_allclose(scores, [math.log(21 / 10) + math.log(21 / 20), math.log(21 / 10)])


def test_offsets_of_zero_are_the_statistic_of_fisher():
    """Twice the sum of -log p is chi-squared with 2 * 2 degrees of freedom; its mean is 4, so that of the sum is 2."""
    draw = np.random.default_rng(0)
    references = {name: draw.normal(size=4000) for name in "ab"}
    joint = JointSurprise(references, {"a": 0.0, "b": 0.0})
    assert joint({name: draw.normal(size=20000) for name in "ab"}).mean() == pytest.approx(2.0, abs=0.1)


def test_each_among_the_others_by_hand():
    """Scores 1 ... 21. Without 21 the others are those of the first test: log(21 / 10) + 2. The lowest is below all."""
    joint = JointSurprise({"a": np.arange(1.0, 22.0)}, {"a": 0.0})
    left_out = joint.left_out()
    np.testing.assert_allclose(left_out[[20, 0]], [math.log(21 / 10) + 2, 0.0])
    assert left_out[20] > joint({"a": np.array([21.0])})[0], "among itself it is less surprising"


def test_one_reference_document_has_no_others():
    joint = JointSurprise({"a": np.array([3.0])}, {"a": 0.0})
    np.testing.assert_array_equal(joint.left_out(), joint({"a": np.array([3.0])}))


def test_a_threshold_from_forty_documents_keeps_its_rate():
    """k = ceil(41 · 0.95) = 39 of 40: a rate of 2 / 41 = 4.9 % on average. Documents among themselves give over 6 %."""
    rates = {"left out": [], "in sample": []}
    for seed in range(200):
        draw = np.random.default_rng(seed)
        reference, new = ({name: draw.normal(size=count) for name in "ab"} for count in (40, 1000))
        joint = JointSurprise(reference, {"a": 0.0, "b": 0.0})
        for name, told in (("left out", joint.left_out()), ("in sample", joint(reference))):
            rates[name].append((joint(new) > conformal_threshold(told, 0.05)).mean())
    assert 0.03 < np.mean(rates["left out"]) < 0.05 < 0.055 < np.mean(rates["in sample"])


def test_width_of_a_tail_of_equal_scores_by_hand():
    """Ten times 0 and twenty times 5: the tail does not vary; a tenth of the range, 0.5, is its width.

    If all are equal, a millionth of their size is, and a millionth near 0.
    """
    for reference, top, width in ((np.r_[np.zeros(10), np.full(20, 5.0)], 5.0, 0.5), (np.zeros(30), 0.0, 1e-6)):
        u = Surprise(reference)(np.array([top, top + 1.0]))
        assert u[1] - u[0] == pytest.approx(1 / width)
    u = Surprise(np.full(30, 100.0))(np.array([100.0, 101.0]))
    assert u[1] - u[0] == pytest.approx(1e4)


def test_two_documents_are_judged_among_each_other():
    """3 is 2 above 1, whose width is a millionth; 1 is below 3."""
    left_out = JointSurprise({"a": np.array([1.0, 3.0])}, {"a": 0.0}).left_out()
    np.testing.assert_allclose(left_out, [0.0, 2e6])


def test_among_too_many_one_makes_no_difference(monkeypatch):
    joint = JointSurprise({"a": np.arange(1.0, 22.0)}, {"a": 0.0})
    told, apart = joint({"a": np.arange(1.0, 22.0)}), joint.left_out()
    assert not np.array_equal(told, apart)
    for most, expected in ((21, apart), (20, told)):
        monkeypatch.setattr(surprise, "MOST_LEFT_OUT", most)
        np.testing.assert_array_equal(joint.left_out(), expected)
