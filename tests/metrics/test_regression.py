"""Correlations and squared error by hand and against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from masker.errors import DataError
from masker.metrics import mean_squared_error, pearson, regression_report, spearman


def test_pearson_worked_by_hand():
    """y = 1 2 3 (centred -1 0 1), y^ = 1 3 2 (centred -1 1 0): 1 / (sqrt 2 * sqrt 2) = 0.5."""
    assert pearson([1, 2, 3], [1, 3, 2]) == pytest.approx(0.5)


def test_spearman_with_ties_worked_by_hand():
    """y = 1 2 3 has ranks 1 2 3 (centred -1 0 1); y^ = 5 5 90 has ranks 1.5 1.5 3 (centred -0.5 -0.5 1).

    1.5 / (sqrt 2 * sqrt 1.5) = sqrt(3) / 2
    """
    assert spearman([1, 2, 3], [5, 5, 90]) == pytest.approx(np.sqrt(3) / 2)


def test_mean_squared_error_worked_by_hand():
    """Errors 0, 1, -3: (0 + 1 + 9) / 3."""
    assert mean_squared_error([1, 2, 3], [1, 1, 6]) == pytest.approx(10 / 3)


@given(st.integers(0, 9999), st.integers(3, 40))
@settings(max_examples=80, deadline=None)
def test_agrees_with_scipy(seed, size):
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 5, size).astype(float)
    y_hat = generator.normal(size=size).round(1)
    y[:2], y_hat[:2] = [0, 4], [-9, 9]  # neither column constant
    assert pearson(y, y_hat) == pytest.approx(stats.pearsonr(y, y_hat).statistic, abs=1e-12)
    assert spearman(y, y_hat) == pytest.approx(stats.spearmanr(y, y_hat).statistic, abs=1e-12)


def test_perfect_and_inverted():
    y = np.array([0.1, 0.7, 0.2, 5.0])
    assert pearson(y, 3 * y + 1) == pytest.approx(1.0)
    assert pearson(y, -y) == pytest.approx(-1.0)
    assert spearman(y, np.exp(y)) == pytest.approx(1.0)
    assert spearman(y, -np.exp(y)) == pytest.approx(-1.0)


@pytest.mark.parametrize("metric", [pearson, spearman])
def test_constant_column_gives_zero(metric):
    """The mean of three 0.1 is not 0.1 in floating point, yet the column is constant."""
    assert metric([1.0, 2.0, 3.0], [0.1, 0.1, 0.1]) == 0.0
    assert metric([0.1, 0.1, 0.1], [1.0, 2.0, 3.0]) == 0.0
    assert metric([4.0], [5.0]) == 0.0


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_pearson_survives_extreme_scales(scale):
    assert pearson([scale, 2 * scale, 3 * scale], [1, 3, 2]) == pytest.approx(0.5)


def test_report_equals_a_naive_bootstrap():
    generator = np.random.default_rng(0)
    y = generator.integers(0, 6, 50).astype(float)
    y_hat = (y + generator.normal(size=50)).round(1)
    report = regression_report(y, y_hat, resamples=40, seed=2)
    metrics = {"pearson": pearson, "spearman": spearman, "mse": mean_squared_error}
    draws = np.random.default_rng(2)
    resamples = [draws.integers(0, 50, size=50) for _ in range(40)]
    assert list(report) == list(metrics)
    for name, metric in metrics.items():
        samples = [metric(y[rows], y_hat[rows]) for rows in resamples]
        assert report[name].value == pytest.approx(metric(y, y_hat))
        assert [report[name].low, report[name].high] == pytest.approx(np.quantile(samples, [0.025, 0.975]))


def test_report_is_determined_by_its_seed():
    y, y_hat = [1.0, 2.0, 3.0, 4.0, 5.0], [1.5, 1.0, 3.5, 3.0, 6.0]
    first, again, other = (regression_report(y, y_hat, resamples=40, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_report_without_a_seed_is_that_of_seed_0():
    columns = [1.0, 2.0, 4.0], [1.5, 1.0, 3.0]
    assert regression_report(*columns, resamples=9) == regression_report(*columns, resamples=9, seed=0)


def test_report_stays_finite_on_two_rows():
    """Half the resamples repeat one row; their correlation is 0, so nothing is NaN."""
    report = regression_report([1.0, 2.0], [1.0, 2.0], resamples=50)
    assert report["pearson"].value == pytest.approx(1.0)
    assert report["pearson"].low == 0.0


@pytest.mark.parametrize("metric", [pearson, spearman, mean_squared_error, regression_report])
@pytest.mark.parametrize(
    ("true", "predicted", "words"),
    [
        ([1.0, 2.0], [1.0], "received true: 2, predicted: 1"),
        ([], [], "true must hold at least one number"),
        ([1.0, np.nan], [1.0, 2.0], "true must not contain NaN or infinite values; received 1 among 2"),
        ([1.0, 2.0], [1.0, np.inf], "predicted must not contain NaN or infinite values"),
        ([[1.0], [2.0]], [1.0, 2.0], "true must be one-dimensional"),
    ],
)
def test_bad_columns_are_refused(metric, true, predicted, words):
    with pytest.raises(DataError, match=words):
        metric(true, predicted)
