"""Online conformal p-values are independent and uniform while nothing changes, whatever the calibration set."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import kstest

from masker.monitoring.online_p_values import ScoreMemory, _noisy


def memory_of(scores, capacity=1000, seed=0):
    memory = ScoreMemory(capacity, (seed,))
    memory.remember(np.asarray(scores, dtype=float))
    return memory


class FixedDraws:
    """Stands in for the generator: noise in the middle, so none, and u = 1/2."""

    def random(self, shape):
        return np.full(shape, 0.5)


def test_rank_among_calibration_and_earlier_texts():
    """Calibration 1, 2, 3, u = 1/2. Score 2.5: one of 3 is higher, p = (1 + 1/2)/4 = 0.375.

    Then 2.7: the 3 is higher, p = 1.5/5 = 0.3. Then 0: all five are higher, p = 5.5/6.
    """
    memory = memory_of([1, 2, 3])
    memory._draw = FixedDraws()
    _, p_values = memory.rank(np.array([2.5, 2.7, 0.0]))
    np.testing.assert_allclose(p_values, [0.375, 0.3, 5.5 / 6])
    assert memory.size == 6


def test_beyond_the_capacity_scores_are_counted_in_gaps():
    """Kept 1, 2, 3: four gaps of mass 1. Score 9 is in the top gap: p = (1/2 · 1)/4 = 0.125.

    That gap now has mass 2 of 5. Score 9 again: p = (1/2 · 2)/5 = 0.2. Score 2.5, gap of mass 1 below mass 3 of 6:
    p = (3 + 1/2)/6.
    """
    memory = memory_of([1, 2, 3], capacity=3)
    memory._draw = FixedDraws()
    _, p_values = memory.rank(np.array([9.0, 9.0, 2.5]))
    np.testing.assert_allclose(p_values, [0.125, 0.2, 3.5 / 6])
    np.testing.assert_array_equal(memory.counts, [0, 0, 1, 2])
    assert memory.size == 6


@pytest.mark.parametrize("capacity", [10_000, 60])
def test_uniform_and_independent_over_calibration_sets(capacity):
    """Also after the capacity is reached; the second half knows nothing of the first."""
    rows = []
    for seed in range(300):
        draw = np.random.default_rng(seed)
        memory = memory_of(draw.standard_normal(40), capacity, seed)
        rows.append(memory.rank(draw.standard_normal(100))[1])
    p_values = np.array(rows)
    assert kstest(p_values.ravel(), "uniform").pvalue > 0.01
    # Means of streams spread as those of 100 independent values; with a shared calibration set they would spread more.
    assert kstest((p_values.mean(axis=1) - 0.5) * np.sqrt(12 * 100), "norm").pvalue > 0.01
    assert abs(np.corrcoef(p_values[:, :50].mean(axis=1), p_values[:, 50:].mean(axis=1))[0, 1]) < 0.15


def test_ties_are_broken_at_random():
    """Scores of three values only, as a score that is 0 for most texts has."""
    rows = []
    for seed in range(200):
        draw = np.random.default_rng(seed)
        memory = memory_of(draw.integers(0, 3, 30), 50, seed)
        rows.append(memory.rank(draw.integers(0, 3, 60).astype(float))[1])
    assert kstest(np.concatenate(rows), "uniform").pvalue > 0.01


@pytest.mark.parametrize("capacity", [1000, 70])
def test_batches_and_a_restart_change_nothing(capacity):
    draw = np.random.default_rng(0)
    calibration, stream = draw.standard_normal(40), draw.standard_normal(200)
    expected = memory_of(calibration, capacity).rank(stream)[1]
    memory, found = memory_of(calibration, capacity), []
    for part in np.split(stream, [1, 2, 30, 31, 100]):
        memory = ScoreMemory.from_json(json.loads(json.dumps(memory.to_json())))
        found.append(memory.rank(part)[1])
    np.testing.assert_array_equal(np.concatenate(found), expected)


def test_a_calibration_larger_than_the_capacity_counts_in_full():
    memory = memory_of(np.arange(1000), capacity=100)
    assert len(memory.kept) == 100 and memory.size == 1000
    _, p_values = memory.rank(np.array([2000.0, -5.0]))
    assert p_values[0] < 0.03 and p_values[1] > 0.97


def test_exceedances():
    """Of 1, …, 9 and the new one, 2 of 10 gaps are above 8, and 5 above 5."""
    known = memory_of(np.arange(1, 10)).exceedances((0.01, 0.2, 0.5))
    assert [round(one.score) for one in known] == [9, 8, 5]
    assert [(one.above, one.below) for one in known] == [(1, 9), (2, 8), (5, 5)]
    assert memory_of([]).exceedances((0.5,)) == []


def test_exceedances_with_counts():
    """Kept 1, 2, 3; ten more above 3: 11 of 14 of the mass lie above 3, the least that can be told apart."""
    memory = memory_of([1, 2, 3], capacity=3)
    memory.rank(np.full(10, 5.0))
    (known,) = memory.exceedances((0.05,))
    assert round(known.score) == 3 and (known.above, known.below) == (11, 3)


def test_damaged_states_are_refused():
    content = memory_of([1, 2, 3]).to_json()
    with pytest.raises(ValueError, match="3 kept scores do not go with 3 counts"):
        ScoreMemory.from_json({**content, "counts": content["kept"]})


def test_before_anything_is_remembered_there_is_one_gap():
    memory = ScoreMemory(0, (0,))
    assert memory.counts.tolist() == [0] and memory.size == 0
    memory.rank(np.array([1.0, 2.0]))
    assert memory.counts.tolist() == [2]


def test_remembering_twice_keeps_to_the_capacity():
    memory = memory_of([1, 2, 3], capacity=5)
    memory.remember(np.array([4.0, 5.0, 6.0]))
    assert len(memory.kept) == 5 and memory.size == 6


def test_noise_is_centred_and_a_billionth_of_the_score():
    noisy = _noisy(np.array([0.0, 2.0, 2.0, 2.0]), np.array([1.0, 0.0, 0.5, 1.0]))
    np.testing.assert_allclose(noisy - [0, 2, 2, 2], [0.5e-18, -1e-9, 0.0, 1e-9], rtol=1e-6, atol=1e-24)
