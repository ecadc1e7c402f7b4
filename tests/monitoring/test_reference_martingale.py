"""The martingale that bets on a difference from the calibration: by hand, and by simulation."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from masker.monitoring.online_p_values import ScoreMemory
from masker.monitoring.reference_martingale import ReferenceMartingale


def test_two_texts_by_hand():
    """n = 2: levels 0, 2 %, 10 % and 30 % of 3 gaps are all rank j = 1.

    Text 1: δ = 1/3, q = max(1/3, 0.5/5) = 1/3, so the bet rests: M = 1 whatever p. p = 0.2 ≤ 1/3, so x = 1.
    Text 2: δ = 2/4, q = max(1/2, 1.5/6) = 1/2: M = 1.
    """
    np.testing.assert_allclose(ReferenceMartingale(2).update(np.array([0.2, 0.9])), [1.0, 1.0])


def test_many_strange_texts_by_hand():
    """n = 9, ranks 1 and 3. Ten texts at p = 0.05, all above the highest calibration score.

    Rank 1, text s: x = s − 1, δ = s/(9 + s), q = max(δ, (s − 1/2)/(s + 4)), f = q/δ. Rank 3 has δ = (2 + s)/(9 + s).
    """
    found = ReferenceMartingale(9).update(np.full(10, 0.05))
    capital = {1: 1.0, 3: 1.0}
    for s in range(1, 11):
        for rank in capital:
            chance = (rank + s - 1) / (9 + s)
            capital[rank] *= max(chance, (s - 0.5) / (s + 4)) / chance
    assert found[-1] == pytest.approx(np.mean(list(capital.values())))
    assert found[-1] > found[0] == 1.0


def test_ville_1000_quiet_streams():
    rows = []
    for seed in range(1000):
        draw = np.random.default_rng(seed)
        memory = ScoreMemory(10_000, (seed,))
        memory.remember(draw.standard_normal(100))
        rows.append(memory.rank(draw.standard_normal(300))[1])
    highest = ReferenceMartingale(100, (1000,)).update(np.array(rows)).max(axis=1)
    for rate in (0.5, 0.2, 0.1, 0.02):
        assert (highest >= 1 / rate).mean() <= rate + 2 * math.sqrt(rate * (1 - rate) / 1000)


def test_foreign_texts_from_the_first_one_on_are_found():
    """One in five, 200 calibration texts: found within 150 texts, mostly, at a rate of 1/400."""
    found = []
    for seed in range(30):
        draw = np.random.default_rng(seed)
        memory = ScoreMemory(10_000, (seed,))
        memory.remember(draw.standard_normal(200))
        stream = draw.standard_normal(150) + 4 * (draw.random(150) < 0.2)
        found.append(ReferenceMartingale(200).update(memory.rank(stream)[1]).max() >= 400)
    assert np.mean(found) > 0.9


def test_without_a_calibration_there_is_no_bet():
    np.testing.assert_array_equal(ReferenceMartingale(0).update(np.random.default_rng(0).random(20)), np.ones(20))


def test_batches_and_a_restart_change_nothing():
    p_values = np.random.default_rng(0).random(120)
    martingale, found = ReferenceMartingale(30), []
    for part in np.split(p_values, [1, 7, 50, 90]):
        martingale = ReferenceMartingale.from_json(json.loads(json.dumps(martingale.to_json())))
        found.append(martingale.update(part))
    np.testing.assert_allclose(np.concatenate(found), ReferenceMartingale(30).update(p_values))


def test_damaged_states_are_refused():
    with pytest.raises(ValueError, match="a calibration of 2 has 1 bets; got 4"):
        ReferenceMartingale.from_json({**ReferenceMartingale(100).to_json(), "size": 2})
