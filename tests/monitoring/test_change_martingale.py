"""The martingale that bets on a change: its numbers by hand, its rate of false alarms by simulation."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from masker.monitoring.change_martingale import PIECE, POWERS, STEPS, ChangeMartingale, bets, change_prior
from masker.monitoring.online_p_values import ScoreMemory


def run(p_values, streams=()):
    """(…, T) M after each text."""
    martingale = ChangeMartingale(streams)
    length = p_values.shape[-1]
    parts = [
        martingale.update(p_values[..., at : at + PIECE], 1 + np.arange(at, min(at + PIECE, length)))
        for at in range(0, length, PIECE)
    ]
    return np.concatenate(parts, axis=-1)


def online_p_values(streams, calibration, length):
    rows = []
    for seed in range(streams):
        draw = np.random.default_rng(seed)
        memory = ScoreMemory(10_000, (seed,))
        memory.remember(draw.standard_normal(calibration))
        rows.append(memory.rank(draw.standard_normal(length))[1])
    return np.array(rows)


def test_bets_by_hand():
    """p = 0.02. Step π = 0.1, δ = 0.03: 0.9 + 0.1/0.03 = 4.2333; δ = 0.01: 0.9. Power π = 0.05, κ = 1/2: its density
    is 0.5/√0.02 = 3.5355, so 0.95 + 0.05 · 3.5355 = 1.1268.
    """
    factors = bets(0.02)
    assert factors[STEPS.index((0.1, 0.03))] == pytest.approx(4.23333, abs=1e-5)
    assert factors[STEPS.index((0.1, 0.01))] == pytest.approx(0.9)
    assert factors[len(STEPS) + POWERS.index((0.05, 0.5))] == pytest.approx(1.12678, abs=1e-5)


def test_a_bet_wins_as_much_as_it_loses_while_nothing_changes():
    """The mean over uniform p-values is 1, or a little less where the smallest ones are cut off."""
    middles = (np.arange(100_000) + 0.5) / 100_000
    means = bets(middles).mean(axis=0)
    assert (means <= 1 + 1e-5).all() and (means > 0.9).all()
    np.testing.assert_allclose(means[: len(STEPS)], 1.0)


def test_two_texts_by_hand():
    """With equal weights over K bets and prior stakes s_1 = 1 − P(1), s_2 = P(1) − P(2):

    M_1 = P(1) + s_1 mean(f(p_1)); M_2 = P(2) + mean((s_1 f(p_1) + s_2) f(p_2)).
    """
    first, second = bets(0.02), bets(0.6)
    prior = [1.0 / math.log(math.e + t / 300) for t in (0, 1, 2)]
    s_1, s_2 = prior[0] - prior[1], prior[1] - prior[2]
    expected = [prior[1] + s_1 * first.mean(), prior[2] + ((s_1 * first + s_2) * second).mean()]
    np.testing.assert_allclose(run(np.array([0.02, 0.6])), expected)
    assert change_prior(0) == 1.0


def test_the_start_is_where_the_best_sum_left_zero():
    martingale = ChangeMartingale()
    p_values = np.array([0.9, 0.8, 0.95, 0.001, 0.002, 0.9, 0.001])
    martingale.update(p_values, np.arange(11, 18))
    assert martingale.likely_start() == 14, "the fourth text, number 14 of the traffic"
    assert martingale.likely_start(0) == 11 and martingale.likely_start(2) == 13, "usual: any text may be the first"
    assert ChangeMartingale((2,)).likely_start().tolist() == [1, 1]


def test_ville_1000_quiet_streams():
    """P(sup M ≥ 1/α) ≤ α, with calibration sets of 40 texts and 500 looks each."""
    highest = run(online_p_values(1000, 40, 500), streams=(1000,)).max(axis=1)
    for rate in (0.5, 0.2, 0.1, 0.02):
        assert (highest >= 1 / rate).mean() <= rate + 2 * math.sqrt(rate * (1 - rate) / 1000)


def test_p_values_of_the_calibration_alone_would_give_false_alarms():
    """Why p-values are online: given one set of 40, those of 1,000 texts are not uniform."""
    highest = []
    for seed in range(100):
        draw = np.random.default_rng(seed)
        calibration, stream = np.sort(draw.standard_normal(40)), draw.standard_normal(1000)
        above = 40 - np.searchsorted(calibration, stream)
        highest.append(run((above + draw.random(1000)) / 41).max())
    assert (np.array(highest) >= 100).mean() > 0.1, "ten times the stated 1 %"


def test_a_change_is_found():
    p_values = online_p_values(20, 200, 1500)
    draw = np.random.default_rng(0)
    foreign = draw.random(p_values.shape) < 0.2
    foreign[:, :500] = False
    p_values[foreign] *= 0.02
    found = run(p_values, streams=(20,)) >= 400
    assert found.any(axis=1).all() and not found[:, :500].any()
    assert np.median(found.argmax(axis=1)) - 500 < 150


def test_batches_and_a_restart_change_nothing():
    p_values = np.random.default_rng(0).random(120)
    martingale, found = ChangeMartingale(), []
    for part in np.split(np.arange(120), [1, 7, 50, 90]):
        martingale = ChangeMartingale.from_json(json.loads(json.dumps(martingale.to_json())))
        found.append(martingale.update(p_values[part], part + 1))
    np.testing.assert_allclose(np.concatenate(found), run(p_values))


def test_a_long_alarm_stays_finite():
    assert np.isfinite(run(np.full(5000, 1e-9))).all()


def test_damaged_states_are_refused():
    content = ChangeMartingale().to_json()
    with pytest.raises(ValueError, match="'sums' must have shape"):
        ChangeMartingale.from_json({**content, "sums": ChangeMartingale((2,)).to_json()["sums"]})


def test_a_p_value_on_the_bound_wins():
    """π = 0.03, δ = 0.01: 0.97 + 0.03/0.01 = 3.97."""
    assert bets(0.01)[0] == pytest.approx(3.97)


def test_sums_and_starts_are_those_of_a_loop_over_texts():
    """W ← max(W, 0) + log f, and a sum that was at or below 0 starts anew; in pieces of any size, also of one."""
    draw = np.random.default_rng(3)
    p_values = np.concatenate([draw.random(60), 0.2 * draw.random(30), draw.random(80)])
    martingale, at = ChangeMartingale(), 0
    sums, starts = np.zeros(len(STEPS) + len(POWERS)), np.ones(len(STEPS) + len(POWERS), dtype=int)
    for size in (7, 50, 1, 1, 13, 50, 48):
        course = []
        for number in range(at + 1, at + size + 1):
            starts = np.where(sums <= 0, number, starts)
            sums = np.maximum(sums, 0) + np.log(bets(p_values[number - 1]))
            course.append(starts[sums.argmax()])
        martingale.update(p_values[at : at + size], 1 + np.arange(at, at + size))
        np.testing.assert_allclose(martingale.sums, sums, atol=1e-9)
        np.testing.assert_array_equal(martingale.starts, starts)
        assert [int(martingale.likely_start(place)) for place in range(size)] == course
        at += size


def test_streams_do_not_mix():
    draw = np.random.default_rng(4)
    p_values = np.stack([draw.random(30), 0.1 * draw.random(30), draw.random(30)])
    together, numbers = ChangeMartingale((3,)), 1 + np.arange(30)
    found = together.update(p_values, numbers)
    for row in range(3):
        alone = ChangeMartingale()
        np.testing.assert_allclose(found[row], alone.update(p_values[row], numbers))
        assert together.likely_start()[row] == alone.likely_start()
