"""Conformal p-values and thresholds: by hand, their agreement, and the guarantee over many draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

from masker.detection.conformal import (
    conformal_p_values,
    conformal_threshold,
    least_documents,
    promised_rate,
    rate_interval,
    threshold_rank,
)

RATES = [0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.9, 1.0]
SCORES = st.lists(st.integers(0, 12).map(lambda n: n / 12), min_size=1, max_size=60)


def test_threshold_by_hand():
    """Scores 1 ... 10, rate 0.25: k = ceil(11 * 0.75) = ceil(8.25) = 9; the ninth smallest is 9; only 10 exceeds it.

    Rate 0.2: k = ceil(8.8) = 9 as well. Rate 3/11: (n + 1)(1 - rate) is exactly 8, despite floating point.
    """
    scores = np.random.default_rng(0).permutation(np.arange(1.0, 11.0))
    assert conformal_threshold(scores, 0.25) == 9.0
    assert conformal_threshold(scores, 0.2) == 9.0
    assert conformal_threshold(scores, 3 / 11) == 8.0


def test_p_values_by_hand():
    """Held out 1, 2, 2, 3. Of score 2 three are at least as high: (1 + 3) / 5. Of 2.5 one: 2/5. Of 9 none: 1/5."""
    held_out = np.array([1.0, 2.0, 2.0, 3.0])
    scores = np.array([2.0, 2.5, 9.0, 0.0])
    assert conformal_p_values(scores, held_out).tolist() == [4 / 5, 2 / 5, 1 / 5, 1.0]


def test_rate_zero_rejects_above_all_and_rate_one_all_but_the_lowest():
    scores = np.array([0.3, 0.1, 0.2, 0.4])
    assert conformal_threshold(scores, 0.0) == 0.4
    assert conformal_threshold(scores, 1.0) == 0.1


@pytest.mark.parametrize(("count", "enough"), [(18, False), (19, True), (20, True)])
def test_how_many_documents_a_guarantee_takes(count, enough):
    """5 % is 1 of 20: with n = 19 the highest score is exceeded by a twentieth document with probability 1/20."""
    assert least_documents(0.05) == 19
    assert (count >= least_documents(0.05)) == enough
    assert promised_rate(count, 0.05) == (0.05 if enough else 1 / (count + 1))
    assert conformal_threshold(np.arange(float(count)), 0.05) == count - 1


def test_a_rate_of_zero_is_never_guaranteed():
    assert least_documents(0.0) > 10**8
    assert promised_rate(99, 0.0) == 0.01


@given(held_out=SCORES, new=SCORES, rate=st.sampled_from(RATES[1:-1]))
def test_threshold_and_p_value_decide_alike(held_out, new, rate):
    held_out, new = np.sort(held_out), np.array(new)
    rejected = new > conformal_threshold(held_out, rate)
    p = conformal_p_values(new, held_out)
    if len(held_out) >= least_documents(rate):
        np.testing.assert_array_equal(rejected, p <= rate + 1e-12)
    else:
        np.testing.assert_array_equal(rejected, p <= 1 / (len(held_out) + 1) + 1e-12)


@given(held_out=SCORES, new=SCORES)
def test_p_values_against_counting(held_out, new):
    expected = [(1 + sum(other >= score for other in held_out)) / (len(held_out) + 1) for score in new]
    np.testing.assert_allclose(conformal_p_values(np.array(new), np.sort(held_out)), expected)


@given(scores=SCORES, rate=st.sampled_from(RATES))
def test_share_of_the_held_out_above_never_exceeds_the_rate(scores, rate):
    threshold = conformal_threshold(np.array(scores), rate)
    assert threshold in scores
    assert (np.array(scores) > threshold).mean() <= rate


def test_a_higher_rate_never_raises_the_threshold():
    scores = np.random.default_rng(0).random(101)
    thresholds = [conformal_threshold(scores, rate) for rate in RATES]
    assert thresholds == sorted(thresholds, reverse=True)


def test_equal_scores_are_not_rejected():
    assert conformal_threshold(np.full(30, 0.5), 0.05) == 0.5


@pytest.mark.parametrize(("count", "rate"), [(19, 0.05), (50, 0.05), (200, 0.05), (99, 0.1), (7, 0.3)])
def test_the_guarantee_holds_over_many_draws(count, rate):
    """4000 times: calibrate on ``count`` draws, then try one fresh draw.

    The chance of rejection is exactly (n + 1 - k) / (n + 1), at most the rate; 4000 trials stay within the binomial
    distribution's 1 - 1e-6 range around it.
    """
    draw = np.random.default_rng(count)
    k = int(np.ceil((count + 1) * (1 - rate) - 1e-9))
    chance = (count + 1 - k) / (count + 1)
    assert chance <= rate + 1e-12
    rejected = sum(
        draw.gumbel() > conformal_threshold(draw.gumbel(size=count), rate) for _ in range(4000)
    )  # not normal: the guarantee needs no distribution
    low, high = binom.interval(1 - 1e-6, 4000, chance)
    assert low <= rejected <= high


def test_realised_rates_have_the_distribution_in_the_docstring():
    """With scores uniform on [0, 1] the rate that a threshold t realises is 1 - t: Beta(n + 1 - k, k) over draws.

    For n = 100 and 5 %: k = 96, Beta(5, 96); compare the mean (5/101) and the central 95 %.
    """
    draw = np.random.default_rng(0)
    realised = 1 - np.array([conformal_threshold(draw.random(100), 0.05) for _ in range(4000)])
    assert realised.mean() == pytest.approx(5 / 101, abs=0.002)
    np.testing.assert_allclose(np.quantile(realised, [0.025, 0.975]), beta.ppf([0.025, 0.975], 5, 96), atol=0.006)


class TestConfidence:
    def test_ranks_by_hand(self):
        """P(Beta(n + 1 - k, k) <= a) is P(Bin(n, a) >= n + 1 - k). For n = 4 and a = 1/2 that is 1, 5, 11 and 15
        sixteenths for k = 1 ... 4: 0.9 takes k = 4, 0.6 takes 3, and so does exactly 11/16."""
        assert threshold_rank(4, 0.5, 0.9) == 4
        assert threshold_rank(4, 0.5, 0.6) == threshold_rank(4, 0.5, 11 / 16) == 3
        assert conformal_threshold(np.array([0.4, 0.1, 0.3, 0.2]), 0.5, 0.6) == 0.3

    def test_too_few_documents_by_hand(self):
        """1 - (1/2)^n reaches 3/4 with n = 2; one document promises 3/4 itself: 1 - (1 - 3/4)^(1/1)."""
        assert least_documents(0.5, 0.75) == 2
        assert promised_rate(2, 0.5, 0.75) == 0.5
        assert promised_rate(1, 0.5, 0.75) == pytest.approx(0.75)
        assert threshold_rank(4, 0.5, 0.95) == 4 and promised_rate(4, 0.5, 0.95) == pytest.approx(0.527, abs=5e-4)

    @pytest.mark.parametrize(("rate", "confidence", "count"), [(0.05, 0.95, 59), (0.01, 0.95, 299), (0.1, 0.9, 22)])
    def test_known_sample_sizes(self, rate, confidence, count):
        """Wilks' numbers for one-sided tolerance bounds: 59 for 95 %/95 %, 299 for 99 %/95 %, 22 for 90 %/90 %."""
        assert least_documents(rate, confidence) == count
        assert promised_rate(count, rate, confidence) == rate < promised_rate(count - 1, rate, confidence)
        assert threshold_rank(count, rate, confidence) == count

    def test_the_ends_of_the_range(self):
        assert threshold_rank(30, 0.0, 0.95) == 30 and threshold_rank(30, 1.0, 0.95) == 1
        assert least_documents(0.0, 0.95) > 10**8 and least_documents(1.0, 0.95) == 1

    @given(st.integers(1, 300), st.sampled_from(RATES), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
    def test_against_all_ranks(self, count, rate, confidence):
        ranks = np.arange(1, count + 1)
        enough = ranks[beta.cdf(rate, count + 1 - ranks, ranks) >= confidence - 1e-9]
        assert threshold_rank(count, rate, confidence) == (enough[0] if len(enough) else count)
        assert (len(enough) > 0) == (count >= least_documents(rate, confidence))

    def test_more_confidence_never_lowers_the_threshold(self):
        ranks = [threshold_rank(200, 0.05, confidence) for confidence in (None, 0.8, 0.9, 0.95, 0.99, 0.99999)]
        assert ranks == sorted(ranks) and ranks[0] < ranks[-1] == 200

    def test_interval_by_hand(self):
        """n = 1: k = 1, Beta(1, 1) is uniform. n = 2 and a low rate: k = 2, Beta(1, 2) has P(R <= x) = 1 - (1 - x)^2.

        n = 100 and 5 %: k = 96, Beta(5, 96); with 95 % confidence k = 99, Beta(2, 99): P(R <= 5 %) = 0.963.
        """
        assert rate_interval(1, 0.5) == pytest.approx((0.05, 0.95))
        assert rate_interval(2, 0.01) == pytest.approx((1 - 0.95**0.5, 1 - 0.05**0.5))
        assert rate_interval(100, 0.05) == pytest.approx(beta.ppf([0.05, 0.95], 5, 96))
        assert threshold_rank(100, 0.05, 0.95) == 99
        assert rate_interval(100, 0.05, 0.95) == pytest.approx(beta.ppf([0.05, 0.95], 2, 99))

    @pytest.mark.parametrize("confidence", [0.8, 0.95])
    @pytest.mark.parametrize("count", [60, 200])
    def test_the_bound_holds_over_many_draws(self, count, confidence):
        """4000 times ``count`` draws from an exponential distribution, where threshold t has the true rate exp(-t).

        With confidence the share of calibrations above 5 % is at most 1 - confidence, within the binomial
        distribution's 1 - 1e-6 range. Without, the mean is at most 5 % (five standard errors), but a third are above.
        """
        draw, trials = np.random.default_rng(count), 4000
        held_out = draw.exponential(size=(trials, count))
        bounded, average = (
            np.exp([-conformal_threshold(row, 0.05, wanted) for row in held_out]) for wanted in (confidence, None)
        )
        above = int((bounded > 0.05).sum())
        assert above <= binom.ppf(1 - 1e-6, trials, 1 - confidence)
        k = threshold_rank(count, 0.05, confidence)
        assert above >= binom.ppf(1e-6, trials, beta.sf(0.05, count + 1 - k, k)), "no more careful than it says"
        assert average.mean() <= 0.05 + 5 * average.std() / np.sqrt(trials)
        assert (average > 0.05).mean() > 1 / 3
