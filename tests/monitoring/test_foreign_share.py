"""The share of foreign texts: by hand, and how often its interval covers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, binomtest

from masker.monitoring.foreign_share import foreign_share
from masker.monitoring.online_p_values import Exceedance, ScoreMemory
from masker.monitoring.window_test import LEVELS


def test_by_hand():
    """40 of 100 texts lie above a score that 20 % of the known texts exceed: (0.4 − 0.2)/0.8 = 1/4."""
    scores = np.array([1.0] * 40 + [0.0] * 60)
    share = foreign_share(scores, [Exceedance(0.5, 2000, 8000)])
    assert share.value == pytest.approx(0.25)
    assert 0.05 < share.low < share.value < share.high < 0.45
    assert share.texts == 100


def test_the_estimate_is_that_of_the_level_of_one_in_five():
    """30 of 100 texts above a score that 2 % exceed, 40 above one that 20 % exceed. The first is the firmer bound."""
    scores = np.array([2.0] * 30 + [1.0] * 10 + [0.0] * 60)
    far, near = Exceedance(1.5, 200, 9800), Exceedance(0.5, 2000, 8000)
    both = foreign_share(scores, [far, near])
    assert both.value == pytest.approx(0.25) and both.high == foreign_share(scores, [near]).high
    assert both.low > foreign_share(scores, [near]).low
    assert foreign_share(scores, [near, far]) == both


def test_little_knowledge_makes_the_interval_wide():
    scores = np.array([1.0] * 40 + [0.0] * 60)
    sure, unsure = (foreign_share(scores, [Exceedance(0.5, n, 4 * n)]) for n in (1000, 3))
    assert unsure.low < sure.low and unsure.high > sure.high and unsure.value == pytest.approx(sure.value)


def test_all_or_none():
    reference = [Exceedance(0.5, 20, 80)]
    assert foreign_share(np.ones(50), reference).high == 1.0
    none = foreign_share(np.zeros(50), reference)
    assert (none.value, none.low) == (0.0, 0.0)
    assert foreign_share(np.empty(0), reference) is None and foreign_share(np.ones(3), []) is None


@pytest.mark.parametrize("foreign", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("strangeness", [3, 8])
def test_the_interval_covers(foreign, strangeness):
    """In at least 95 of 100 streams, also where not every foreign text is plain to see."""
    covered, values = 0, []
    for seed in range(100):
        draw = np.random.default_rng(seed)
        memory = ScoreMemory(1000, (seed,))
        memory.remember(draw.standard_normal(150))
        scores = draw.standard_normal(300) + strangeness * (draw.random(300) < foreign)
        share = foreign_share(scores, memory.exceedances(LEVELS))
        assert share.low <= share.value <= share.high
        covered += share.low <= foreign <= share.high
        values.append(share.value)
    assert covered >= 95
    assert abs(np.median(values) - foreign) < 0.02


def test_texts_that_look_known_are_not_counted():
    draw = np.random.default_rng(0)
    memory = ScoreMemory(1000, (0,))
    memory.remember(draw.standard_normal(500))
    assert foreign_share(draw.standard_normal(400), memory.exceedances(LEVELS)).low == 0.0


def test_the_ends_are_those_of_clopper_and_pearson():
    """40 of 100 above, each end at a quarter of 5 %, and both ends of what is known of the 20 %.

    For two levels each lower end has half of that quarter, and the higher one counts.
    """
    scores, tail = np.array([1.0] * 40 + [0.0] * 60), 0.0125
    near = Exceedance(0.5, 2000, 8000)
    exact = binomtest(40, 100).proportion_ci(1 - 2 * tail, method="exact")
    known = beta(2000, 8000)
    high, low = known.ppf(tail), known.ppf(1 - tail)
    found = foreign_share(scores, [near])
    assert found.high == pytest.approx((exact.high - high) / (1 - high))
    assert found.low == pytest.approx((exact.low - low) / (1 - low))
    half = binomtest(40, 100).proportion_ci(1 - tail, method="exact").low
    low = known.ppf(1 - tail / 2)
    assert foreign_share(scores, [near, near]).low == pytest.approx((half - low) / (1 - low))


def test_a_score_equal_to_the_level_is_not_above_it():
    share = foreign_share(np.array([0.5] * 40 + [0.0] * 60), [Exceedance(0.5, 2000, 8000)])
    assert (share.value, share.low) == (0.0, 0.0)


def test_the_estimate_is_that_of_one_in_five_not_of_more():
    """70 of 100 texts lie above a score that 90 % exceed, which says nothing; 40 above one that 20 % exceed."""
    scores = np.array([1.0] * 40 + [0.0] * 30 + [-2.0] * 30)
    share = foreign_share(scores, [Exceedance(-1.0, 9000, 1000), Exceedance(0.5, 2000, 8000)])
    assert share.value == pytest.approx(0.25)


def test_all_texts_above_are_no_more_than_all():
    share = foreign_share(np.ones(50), [Exceedance(0.5, 20, 80)])
    assert (share.value, share.high) == (1.0, 1.0)
