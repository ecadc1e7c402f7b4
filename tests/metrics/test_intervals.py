"""The percentile bootstrap and the exact interval of a proportion."""

from __future__ import annotations

import json

import numpy as np
import pytest

from masker.errors import ConfigError, DataError
from masker.metrics import Interval, binomial_interval, bootstrap, detection_report
from masker.metrics.intervals import percentile_interval, resampling_generator


def test_interval_as_dict_is_json():
    assert json.loads(json.dumps(Interval(0.5, 0.4, 0.6).as_dict())) == {"value": 0.5, "low": 0.4, "high": 0.6}


def test_value_is_the_statistic_on_all_rows_in_order():
    column = np.array([1.0, 2.0, 6.0])
    assert bootstrap(lambda rows: column[rows].mean(), 3, resamples=10).value == 3.0
    assert bootstrap(lambda rows: column[rows[0]], 3, resamples=10).value == 1.0


def test_percentiles_worked_by_hand():
    """Resamples 1 to 5 return 10, 20, 30, 40, 50 (all rows: 0). Level 0.5 gives the quartiles, 20 and 40."""
    answers = iter([0.0, 10.0, 20.0, 30.0, 40.0, 50.0])
    assert bootstrap(lambda rows: next(answers), 4, resamples=5, level=0.5) == Interval(0.0, 20.0, 40.0)


def test_percentile_interval_by_hand():
    """0 to 100 in steps of 1: the central 95 % run from 2.5 to 97.5; the point estimate need not lie inside."""
    interval = percentile_interval(-1.0, np.arange(101.0))
    assert (interval.value, interval.low, interval.high) == pytest.approx((-1.0, 2.5, 97.5))


def test_resamples_have_n_rows_within_range():
    seen = []
    bootstrap(lambda rows: float(seen.append(rows) or 0), 7, resamples=50)
    assert all(rows.shape == (7,) and rows.min() >= 0 and rows.max() < 7 for rows in seen)
    assert len(seen) == 51
    assert any(len(set(rows)) < 7 for rows in seen[1:])


def test_seed_determines_the_interval():
    column = np.random.default_rng(0).normal(size=50)

    def run(seed):
        return bootstrap(lambda rows: column[rows].mean(), 50, resamples=200, seed=seed)

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_mean_agrees_with_the_normal_approximation():
    """For the mean of 400 rows the interval is close to mean +- 1.96 s / sqrt(400)."""
    column = np.random.default_rng(0).normal(2.0, 3.0, size=400)
    interval = bootstrap(lambda rows: column[rows].mean(), 400, resamples=2000)
    half = 1.96 * column.std() / 20
    assert interval.low == pytest.approx(column.mean() - half, abs=0.1 * half)
    assert interval.high == pytest.approx(column.mean() + half, abs=0.1 * half)


def test_coverage_of_a_mean():
    generator = np.random.default_rng(0)
    inside = 0
    for trial in range(200):
        column = generator.normal(0.0, 1.0, size=60)
        interval = bootstrap(lambda rows, column=column: column[rows].mean(), 60, resamples=200, seed=trial)
        inside += interval.low <= 0.0 <= interval.high
    assert 178 <= inside <= 200


def test_higher_level_is_wider():
    column = np.random.default_rng(0).normal(size=50)
    narrow, wide = (bootstrap(lambda rows: column[rows].mean(), 50, level=level) for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"resamples": 0}, "resamples must be at least 1; received 0"),
        ({"level": 1.0}, "level must lie strictly between 0 and 1; received 1.0"),
        ({"level": 0.0}, "level must lie strictly between 0 and 1"),
        ({"seed": -1}, "seed must be 0 or more; received -1"),
    ],
)
def test_bad_settings_are_refused(setting, words):
    with pytest.raises(ConfigError, match=words):
        bootstrap(lambda rows: 0.0, 3, **setting)
    with pytest.raises(ConfigError, match=words):
        resampling_generator(**{"resamples": 10, "seed": 0, **setting})


@pytest.mark.parametrize("setting", [{"resamples": 0}, {"seed": -1}])
def test_reports_check_their_settings(setting):
    with pytest.raises(ConfigError, match="received"):
        detection_report([0.0], [1.0], **setting)


def test_no_rows_are_refused():
    with pytest.raises(DataError, match="n must be at least 1 row"):
        bootstrap(lambda rows: 0.0, 0)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_undefined_statistic_is_refused(bad):
    answers = iter([0.0, 1.0, bad, 2.0])
    with pytest.raises(DataError, match="1 non-finite values among 3 resamples"):
        bootstrap(lambda rows: next(answers), 3, resamples=3)


def test_binomial_interval_by_hand():
    """No hit in 10: the upper end u solves (1 - u)^10 = 0.025, u = 1 - 0.025^0.1 = 0.3085; ten hits mirror that."""
    none, all_ = binomial_interval(0, 10), binomial_interval(10, 10)
    assert (none.value, none.low) == (0.0, 0.0) and none.high == pytest.approx(1 - 0.025**0.1)
    assert (all_.value, all_.high) == (1.0, 1.0) and all_.low == pytest.approx(0.025**0.1)


def test_binomial_interval_covers_at_least_as_often_as_it_says():
    """5 % of 200, over all outcomes weighted by their probability."""
    from scipy.stats import binom

    inside = [binomial_interval(k, 200).low <= 0.05 <= binomial_interval(k, 200).high for k in range(60)]
    assert np.dot(inside, binom.pmf(np.arange(60), 200, 0.05)) >= 0.95


def test_binomial_interval_needs_rows():
    with pytest.raises(DataError):
        binomial_interval(0, 0)
    with pytest.raises(DataError):
        binomial_interval(3, 2)
    with pytest.raises(DataError):
        binomial_interval(-1, 2)


def test_one_row_and_one_resample_are_enough():
    """One row is its own only resample. One hit of one: the lower end l solves l = 0.025."""
    assert bootstrap(lambda rows: float(rows.sum()), 1, resamples=1) == Interval(0.0, 0.0, 0.0)
    assert binomial_interval(1, 1).low == pytest.approx(0.025)


def test_what_a_caller_gets_who_sets_nothing():
    """1,000 resamples of generator 0, after the pass over all rows; every row is drawn, the first too."""
    seen = []
    bootstrap(lambda rows: float(seen.append(rows) or 0), 3)
    assert len(seen) == 1001
    np.testing.assert_array_equal(seen[1], np.random.default_rng(0).integers(0, 3, size=3))
    assert set(np.concatenate(seen[1:])) == {0, 1, 2}
