"""The paired test, worked out by hand."""

from __future__ import annotations

import pytest

from masker.experiments.comparison import compare_paired, sign_flip_p_value


@pytest.mark.parametrize(
    ("differences", "p_value"),
    [
        ([1.0], 1.0),  # +1 and -1 are as far from 0
        ([1.0, 2.0, 3.0], 0.25),  # only +++ and --- reach |mean| 2: 2 of 8
        ([1.0, 2.0, 3.0, 4.0, 5.0], 2 / 32),
    ],
)
def test_p_value_counts_sign_patterns(differences, p_value):
    assert sign_flip_p_value(differences) == pytest.approx(p_value)


def test_p_value_of_mixed_signs():
    """Differences 3, 2, -1 with sum 4. All sums ±3 ±2 ±1: 6, 4, 2, 0, 0, -2, -4, -6; four of eight reach 4 or -4."""
    assert sign_flip_p_value([3.0, 2.0, -1.0]) == pytest.approx(0.5)


def test_many_pairs_are_drawn_repeatably():
    """40 differences of 1 and -0.5 in turn: sum 10, deviation of a random sum sqrt(20 + 5) = 5.

    Such sums lie 1 apart, so "10 or more" begins at 9.5, 1.9 deviations: 5.7 % of a normal distribution lie beyond.
    """
    values = [1.0, -0.5] * 20
    assert sign_flip_p_value(values) == sign_flip_p_value(values) == pytest.approx(0.057, abs=0.004)
    assert 0 < sign_flip_p_value([1.0] * 40) < 1e-4


def test_cells_of_one_run_are_one_unit():
    """Two seeds, two test sets each. Differences: seed 0: +2, +4 (mean 3); seed 1: +1, -2 (mean -0.5).

    Mean of units 1.25; 3 of 4 cells won. The sums of (±3, ±0.5) are 2.5, 3.5, -2.5, -3.5; all reach 2.5, so p = 1. With
    two units no p below 2/4 is possible.
    """
    system = {(0, "a"): 82.0, (0, "b"): 74.0, (1, "a"): 81.0, (1, "b"): 68.0, (1, "only here"): 1.0}
    baseline = {(0, "a"): 80.0, (0, "b"): 70.0, (1, "a"): 80.0, (1, "b"): 70.0, (2, "a"): 99.0}
    found = compare_paired(system, baseline)
    assert (found.cells, found.wins, found.units) == (4, 3, 2)
    assert found.difference == pytest.approx(1.25)
    assert found.p_value == pytest.approx(1.0)
    assert found.smallest_p == pytest.approx(0.5)


def test_less_can_be_better():
    found = compare_paired({(0, "a"): 10.0}, {(0, "a"): 12.0}, lower_is_better=True)
    assert (found.wins, found.difference) == (1, 2.0)


def test_nothing_in_common():
    assert compare_paired({(0, "a"): 1.0}, {(1, "a"): 1.0}) is None
