"""The martingale that bets on a difference from the calibration: by hand, and by simulation."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from masker.monitoring.online_p_values import Exceedance, ScoreMemory
from masker.monitoring.reference_martingale import CALIBRATION_LEVELS, ReferenceMartingale


def memory_of(size, seed):
    """A memory with a calibration set, and the generator for what follows."""
    draw = np.random.default_rng(seed)
    memory = ScoreMemory(10_000, (seed,))
    memory.remember(draw.standard_normal(size))
    return memory, draw


def test_two_texts_by_hand():
    """n = 2 scores, 1 and 2; j = 1 for score 2, so Beta(1, 2).

    Text 1: δ = 1/3, q = max(1/3, 0.5/5) = 1/3, so the bet rests: M = 1. It scores 3, so x = 1.
    Text 2: δ = 2/4, q = max(1/2, 1.5/6) = 1/2: M = 1.
    """
    np.testing.assert_allclose(ReferenceMartingale([Exceedance(2.0, 1, 2)]).update(np.array([3.0, 0.0])), [1.0, 1.0])


def test_many_strange_texts_by_hand():
    """n = 9, ranks 1 and 3. Ten texts above the highest calibration score.

    Rank 1, text s: x = s − 1, δ = s/(9 + s), q = max(δ, (s − 1/2)/(s + 4)), f = q/δ. Rank 3 has δ = (2 + s)/(9 + s).
    """
    found = ReferenceMartingale([Exceedance(9.0, 1, 9), Exceedance(7.0, 3, 7)]).update(np.full(10, 20.0))
    capital = {1: 1.0, 3: 1.0}
    for s in range(1, 11):
        for rank in capital:
            chance = (rank + s - 1) / (9 + s)
            capital[rank] *= max(chance, (s - 0.5) / (s + 4)) / chance
    assert found[-1] == pytest.approx(np.mean(list(capital.values())))
    assert found[-1] > found[0] == 1.0


def test_a_lost_bet_by_hand():
    """As above, rank 1, and a usual text after three strange ones: x = 3, δ = 4/13, q = 3.5/8, f = (1 − q)/(1 − δ)."""
    martingale = ReferenceMartingale([Exceedance(9.0, 1, 9)])
    before, after = martingale.update(np.array([20.0, 20.0, 20.0, 1.0]))[-2:]
    assert after / before == pytest.approx((1 - 3.5 / 8) / (1 - 4 / 13))


@pytest.mark.parametrize("capacity", [10_000, 50])
def test_above_the_score_is_a_small_online_p_value(capacity):
    """So the bet is one on p-values, in the same game as the other martingale."""
    draw = np.random.default_rng(0)
    memory = ScoreMemory(capacity, (0,))
    memory.remember(draw.standard_normal(80))
    score, above, below = memory.exceedances((0.1,))[0]
    scores, p_values = memory.rank(draw.standard_normal(300))
    won = scores > score
    x = won.cumsum() - won
    np.testing.assert_array_equal(won, p_values <= (above + x) / (above + below + np.arange(300)))


def test_ville_1000_quiet_streams():
    known, rows = [], []
    for seed in range(1000):
        memory, draw = memory_of(100, seed)
        known.append(memory.exceedances(CALIBRATION_LEVELS))
        rows.append(memory.rank(draw.standard_normal(300))[0])
    martingale = ReferenceMartingale(np.moveaxis(np.array(known), 0, -1))
    highest = martingale.update(np.array(rows)).max(axis=1)
    assert highest.shape == (1000,)
    for rate in (0.5, 0.2, 0.1, 0.02):
        assert (highest >= 1 / rate).mean() <= rate + 2 * math.sqrt(rate * (1 - rate) / 1000)


def test_foreign_texts_from_the_first_one_on_are_found():
    """One in five, 200 calibration texts: found within 150 texts, mostly, at a rate of 1/400."""
    found = []
    for seed in range(30):
        memory, draw = memory_of(200, seed)
        martingale = ReferenceMartingale(memory.exceedances(CALIBRATION_LEVELS))
        stream = draw.standard_normal(150) + 4 * (draw.random(150) < 0.2)
        found.append(martingale.update(stream).max() >= 400)
    assert np.mean(found) > 0.9


def test_without_a_calibration_there_is_no_bet():
    martingale = ReferenceMartingale([])
    np.testing.assert_array_equal(martingale.update(np.random.default_rng(0).random(20)), np.ones(20))
    assert ReferenceMartingale.from_json(json.loads(json.dumps(martingale.to_json()))).seen == 20


def test_batches_and_a_restart_change_nothing():
    memory, draw = memory_of(30, 0)
    known, scores = memory.exceedances(CALIBRATION_LEVELS), draw.standard_normal(120)
    martingale, found = ReferenceMartingale(known), []
    for part in np.split(scores, [1, 7, 50, 90]):
        martingale = ReferenceMartingale.from_json(json.loads(json.dumps(martingale.to_json())))
        found.append(martingale.update(part))
    np.testing.assert_allclose(np.concatenate(found), ReferenceMartingale(known).update(scores))


def test_damaged_states_are_refused():
    one, two = (ReferenceMartingale([Exceedance(9.0, 1, 9)] * count).to_json() for count in (1, 2))
    with pytest.raises(ValueError, match="do not go together"):
        ReferenceMartingale.from_json({**one, "known": two["known"]})


def test_the_calibration_scores_that_are_bet_on():
    """The highest, and those that 2, 10 and 30 % exceed."""
    assert CALIBRATION_LEVELS == (0.0, 0.02, 0.1, 0.3)


def test_many_streams_at_once_are_many_streams_alone():
    """Three ranks, two streams, five texts: no axis is taken for another."""
    draw = np.random.default_rng(0)
    scores, known = draw.normal(1.0, 1.0, (2, 5)), [Exceedance(2.0, 1, 9), Exceedance(1.0, 3, 7), Exceedance(0.5, 4, 6)]
    together = ReferenceMartingale(np.repeat(np.array(known)[..., None], 2, axis=-1))
    found = together.update(scores)
    for row in range(2):
        alone = ReferenceMartingale(known)
        np.testing.assert_allclose(found[row], alone.update(scores[row]))
        assert together.seen == alone.seen == 5


def test_as_high_as_a_calibration_score_is_not_above_it():
    martingale = ReferenceMartingale([Exceedance(2.0, 1, 2)])
    martingale.update(np.array([2.0]))
    assert martingale.above.tolist() == [0.0]
