"""The sliding window's p-value by hand, and its rate of false alarms."""

from __future__ import annotations

import numpy as np
import pytest

from masker.monitoring.online_p_values import Exceedance, ScoreMemory
from masker.monitoring.window_test import (
    LEVELS,
    beta_binomial,
    look_level,
    smallest_p_value,
    texts_between_looks,
    window_p_values,
)


def test_beta_binomial_by_hand():
    """Highest of 3 earlier scores: Beta(1, 3). Two texts above it: 1/4 · 2/5 = 0.1; none: 3/4 · 4/5 = 0.6."""
    np.testing.assert_allclose(beta_binomial(2, 1, 3), [0.6, 0.3, 0.1])


def test_p_value_by_hand():
    references = [Exceedance(3.0, 1, 3), Exceedance(2.0, 2, 2)]
    np.testing.assert_allclose(window_p_values(np.array([4.0, 5.0]), references), [0.1, 2 / 4 * 3 / 5])
    np.testing.assert_allclose(window_p_values(np.array([4.0, 1.0]), references), [0.4, 1 - 2 / 4 * 3 / 5])
    np.testing.assert_allclose(window_p_values(np.array([3.0, 1.0]), references[:1]), [1.0], err_msg="not above")
    assert smallest_p_value(np.array([4.0, 5.0]), references) == pytest.approx(0.1)


def test_it_is_the_binomial_if_much_is_known():
    chances = beta_binomial(2, 1e6, 3e6)
    np.testing.assert_allclose(chances, [0.5625, 0.375, 0.0625], atol=1e-6)


def test_level_of_a_look_by_hand():
    """1 % in 1,000 texts, a look after every 50, one window: 21 looks at 4 scores, 0.01/84."""
    assert texts_between_looks(500) == 50 and texts_between_looks(5) == 1
    assert look_level(0.01, 1000, 50, 1) == pytest.approx(0.01 / 84)
    assert look_level(0.01, 1001, 50, 3) == pytest.approx(0.01 / (4 * 24)), "a part of a step counts as one"


def test_exact_over_calibration_sets():
    """The smallest of four p-values is below α/4 at most as often as α."""
    found = []
    for seed in range(2000):
        draw = np.random.default_rng(seed)
        memory = ScoreMemory(1000, (seed,))
        memory.remember(draw.standard_normal(60))
        found.append(smallest_p_value(draw.standard_normal(40), memory.exceedances(LEVELS)))
    values = np.array(found)
    for rate in (0.5, 0.2, 0.05):
        assert (values <= rate / 4).mean() <= rate + 2 * np.sqrt(rate * (1 - rate) / 2000)


def test_without_earlier_scores_there_is_no_test():
    assert smallest_p_value(np.array([9.0]), []) == 1.0


def test_what_the_documentation_names():
    """Scores that 2, 5, 20 and 50 % of the earlier ones exceed; ten looks for each window, whole texts apart."""
    assert LEVELS == (0.02, 0.05, 0.2, 0.5)
    assert texts_between_looks(55) == 5 and isinstance(texts_between_looks(55), int)
