"""The threshold keeps false alarms within the rate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from masker.scoring.threshold import quantile_threshold

RATES = [0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.9, 1.0]


def test_by_hand():
    """Scores 1 ... 10, rate 0.25: of ten scores at most 2.5 may lie above, so 2 do: 9 and 10 exceed 8."""
    assert quantile_threshold(np.arange(1.0, 11.0), 0.25) == 8.0


def test_order_does_not_matter():
    scores = np.random.default_rng(0).permutation(np.arange(1.0, 11.0))
    assert quantile_threshold(scores, 0.25) == 8.0


def test_rate_zero_rejects_none_and_rate_one_all_but_the_lowest():
    scores = np.array([0.3, 0.1, 0.2, 0.4])
    assert quantile_threshold(scores, 0.0) == 0.4
    assert quantile_threshold(scores, 1.0) == 0.1


@given(scores=st.lists(st.integers(0, 12).map(lambda n: n / 12), min_size=1, max_size=60), rate=st.sampled_from(RATES))
def test_share_above_never_exceeds_the_rate(scores, rate):
    scores = np.array(scores)
    threshold = quantile_threshold(scores, rate)
    assert threshold in scores
    assert (scores > threshold).mean() <= rate


@given(size=st.integers(2, 200), rate=st.sampled_from(RATES))
def test_threshold_is_no_higher_than_it_must_be(size, rate):
    """Distinct scores 0 ... n-1: at least floor(rate (n - 1)) of them lie above, else rejection would be wasted."""
    scores = np.arange(float(size))
    assert (scores > quantile_threshold(scores, rate)).sum() >= np.floor(rate * (size - 1) - 1e-9)


def test_a_higher_rate_never_raises_the_threshold():
    scores = np.random.default_rng(0).random(101)
    thresholds = [quantile_threshold(scores, rate) for rate in RATES]
    assert thresholds == sorted(thresholds, reverse=True)


def test_equal_scores_are_not_rejected():
    assert quantile_threshold(np.full(9, 0.5), 0.05) == 0.5


def test_result_is_a_plain_number():
    assert type(quantile_threshold(np.array([0.1], dtype=np.float32), 0.05)) is float


@pytest.mark.parametrize("rate", [0.05, 0.1])
def test_fresh_documents_are_rejected_about_as_often(rate):
    """2000 held-out scores: the standard error of the fresh rate is about sqrt(0.1 / 2000) = 0.007."""
    random = np.random.default_rng(0)
    threshold = quantile_threshold(random.normal(size=2000), rate)
    assert (random.normal(size=20_000) > threshold).mean() == pytest.approx(rate, abs=0.025)
