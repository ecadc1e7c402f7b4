"""The share of foreign texts: by hand, and how often its interval covers."""

from __future__ import annotations

import numpy as np
import pytest

from masker.monitoring.foreign_share import foreign_share
from masker.monitoring.online_p_values import Exceedance, ScoreMemory
from masker.monitoring.window_test import LEVELS


def test_by_hand():
    """30 of 100 texts lie above a score that 10 % of the known texts exceed: (0.3 − 0.1)/0.9 = 2/9."""
    scores = np.array([1.0] * 30 + [0.0] * 70)
    share = foreign_share(scores, [Exceedance(0.5, 1000, 9000)])
    assert share.value == pytest.approx(2 / 9)
    assert 0.05 < share.low < share.value < share.high < 0.4
    assert share.texts == 100


def test_little_knowledge_makes_the_interval_wide():
    scores = np.array([1.0] * 30 + [0.0] * 70)
    sure, unsure = (foreign_share(scores, [Exceedance(0.5, n, 9 * n)]) for n in (1000, 3))
    assert unsure.low < sure.low and unsure.high > sure.high and unsure.value == pytest.approx(sure.value)


def test_all_or_none():
    reference = [Exceedance(0.5, 5, 95)]
    assert foreign_share(np.ones(50), reference).high == 1.0
    none = foreign_share(np.zeros(50), reference)
    assert (none.value, none.low) == (0.0, 0.0)
    assert foreign_share(np.empty(0), reference) is None and foreign_share(np.ones(3), []) is None


@pytest.mark.parametrize("foreign", [0.0, 0.1, 0.3])
def test_the_interval_covers(foreign):
    """Foreign texts that are plain to see; in at least 95 of 100 streams."""
    covered, values = 0, []
    for seed in range(200):
        draw = np.random.default_rng(seed)
        memory = ScoreMemory(1000, (seed,))
        memory.remember(draw.standard_normal(150))
        scores = draw.standard_normal(300) + 8 * (draw.random(300) < foreign)
        share = foreign_share(scores, memory.exceedances(LEVELS))
        covered += share.low <= foreign <= share.high
        values.append(share.value)
    assert covered >= 190
    assert abs(np.mean(values) - foreign) < 0.02


def test_texts_that_look_known_are_not_counted():
    draw = np.random.default_rng(0)
    memory = ScoreMemory(1000, (0,))
    memory.remember(draw.standard_normal(500))
    assert foreign_share(draw.standard_normal(400), memory.exceedances(LEVELS)).low == 0.0
