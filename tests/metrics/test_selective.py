"""Risk and coverage by hand, against all orders of ties, and thinned for JSON."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from masker.errors import ConfigError, DataError
from masker.metrics import aurc, risk_coverage, selective_report


def test_by_hand():
    """Sorted by doubt: right, wrong, right, wrong. Risks 0, 1/2, 1/3, 1/2; their mean is (4/3) / 4 = 1/3."""
    curve = risk_coverage([0.4, 0.1, 0.2, 0.3], [1, 0, 1, 0])
    assert curve.coverage.tolist() == [0.25, 0.5, 0.75, 1.0]
    np.testing.assert_allclose(curve.risk, [0, 1 / 2, 1 / 3, 1 / 2])
    assert curve.area == pytest.approx(1 / 3)


def test_best_and_worst_order_by_hand():
    """Two errors of four, rejected first: risks 0, 0, 1/3, 1/2, mean 5/24. Rejected last: 1, 1, 2/3, 1/2: 19/24."""
    wrong = [0, 0, 1, 1]
    assert aurc([1, 2, 3, 4], wrong) == pytest.approx(5 / 24)
    assert aurc([4, 3, 2, 1], wrong) == pytest.approx(19 / 24)


def test_equal_doubt_is_the_error_rate():
    assert aurc([7, 7, 7, 7], [1, 0, 0, 0]) == pytest.approx(0.25)


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1, max_size=6))
def test_ties_are_the_mean_over_all_orders(rows):
    def area(order):
        errors = np.cumsum([wrong for _, wrong in order])
        return np.mean(errors / np.arange(1, len(order) + 1))

    orders = [order for order in permutations(rows) if [d for d, _ in order] == sorted(d for d, _ in rows)]
    assert aurc([d for d, _ in rows], [w for _, w in rows]) == pytest.approx(np.mean([area(order) for order in orders]))


def test_thinned_ends_at_full_coverage():
    curve = risk_coverage(np.arange(1000.0), np.arange(1000) % 3 == 0)
    points = curve.thinned(100)
    assert len(points) == 100
    assert points[0][0] == pytest.approx(0.01) and points[-1] == [1.0, pytest.approx(0.334)]
    assert len(risk_coverage([1.0, 2.0], [0, 1]).thinned(100)) == 2
    assert len(risk_coverage(np.arange(150.0), np.zeros(150)).thinned(100)) == 100
    with pytest.raises(ConfigError, match="points"):
        curve.thinned(0)


def test_report_has_an_interval_around_the_value():
    draw = np.random.default_rng(0)
    wrong = draw.random(200) < 0.3
    interval, curve = selective_report(wrong + draw.random(200), wrong, resamples=100)
    assert interval.low < interval.value < interval.high
    assert interval.value == curve.area


def test_columns_must_have_the_same_length_and_rows():
    with pytest.raises(DataError):
        aurc([1.0, 2.0], [0])
    with pytest.raises(DataError):
        aurc([], [])


def test_one_point_is_full_coverage():
    assert risk_coverage([0.1, 0.2], [0, 1]).thinned(1) == [[1.0, 0.5]]


def test_errors_are_numbers():
    with pytest.raises(DataError, match="wrong must not contain NaN or infinite values"):
        risk_coverage([0.1, 0.2], [0, np.inf])


def test_report_without_a_seed_is_that_of_seed_0():
    columns = [0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1]
    assert selective_report(*columns, resamples=9)[0] == selective_report(*columns, resamples=9, seed=0)[0]
    assert selective_report(*columns, resamples=9)[0] != selective_report(*columns, resamples=9, seed=1)[0]
