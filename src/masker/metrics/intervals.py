r"""Confidence intervals: the percentile bootstrap, and the exact interval of a proportion.

Draw ``n`` rows with replacement, recompute the statistic, repeat ``resamples`` times; the interval of level
:math:`1 - \alpha` runs from the :math:`\alpha / 2` to the :math:`1 - \alpha / 2` quantile of the resampled values
(Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter 13).

The interval covers the sampling of the test set only: how much the number would change with other rows from the same
source. It does not cover the variation between training runs; the paper averages three runs, a different spread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from masker.errors import ConfigError, DataError
from masker.metrics.vectors import FloatArray, IntArray

RESAMPLES = 1000
LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """A point estimate and its interval.

    Attributes:
        value: The statistic on all rows, not the mean over resamples.
        low: Lower end. A biased statistic, such as a maximum over thresholds, can put it above ``value``.
        high: Upper end.
    """

    value: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float]:
        return {"value": self.value, "low": self.low, "high": self.high}


def bootstrap(
    statistic: Callable[[IntArray], float], n: int, *, resamples: int = RESAMPLES, seed: int = 0, level: float = LEVEL
) -> Interval:
    """Bootstrap any statistic of ``n`` rows.

    Calls with the same ``n``, ``resamples`` and ``seed`` draw the same resamples, so several statistics of one table
    remain comparable.

    Args:
        statistic: Maps row indices (repeats allowed) to a finite number, e.g. ``lambda rows: correct[rows].mean()``.
        level: Share of the resampled statistics inside the interval.

    Raises:
        ConfigError: ``resamples``, ``seed`` or ``level`` is out of range.
        DataError: ``n`` is below 1, or the statistic is NaN or infinite.
    """
    generator = resampling_generator(resamples=resamples, seed=seed, level=level)
    if n < 1:
        raise DataError(f"n must be at least 1 row to resample from; received {n}. Check that the data has rows.")
    value = float(statistic(np.arange(n, dtype=np.int64)))
    samples = np.array([statistic(generator.integers(0, n, size=n)) for _ in range(resamples)], dtype=np.float64)
    return percentile_interval(value, samples, level)


def percentile_interval(value: float, samples: FloatArray, level: float = LEVEL) -> Interval:
    """A point estimate with the central ``level`` of its resampled values (linear between order statistics).

    Raises:
        DataError: The value or a resampled value is NaN or infinite.
    """
    if not (np.isfinite(value) and np.isfinite(samples).all()):
        bad = int((~np.isfinite(samples)).sum())
        raise DataError(
            f"the statistic must be finite on every resample; received {value} on the full data and {bad} non-finite "
            f"values among {samples.size} resamples. Define its value for degenerate rows, or use more rows."
        )
    low, high = np.quantile(samples, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Interval(value=float(value), low=float(low), high=float(high))


def binomial_interval(hits: int, n: int, *, level: float = LEVEL) -> Interval:
    """A proportion of ``n`` independent rows with its exact interval (Clopper and Pearson 1934).

    Raises:
        DataError: ``n`` is below 1 or ``hits`` is not between 0 and ``n``.
    """
    from scipy.stats import binomtest

    if n < 1 or not 0 <= hits <= n:
        raise DataError(f"hits must be between 0 and n, and n at least 1; received {hits} of {n}. Check the counts.")
    found = binomtest(hits, n).proportion_ci(level, method="exact")
    return Interval(value=hits / n, low=float(found.low), high=float(found.high))


def resampling_generator(*, resamples: int, seed: int, level: float = LEVEL) -> np.random.Generator:
    """Check the settings of a bootstrap and return its random generator."""
    if resamples < 1:
        raise ConfigError(f"resamples must be at least 1; received {resamples}. Use 1000 for a stable 95 % interval.")
    if not 0.0 < level < 1.0:
        raise ConfigError(f"level must lie strictly between 0 and 1; received {level}. Use 0.95 for a 95 % interval.")
    if seed < 0:
        raise ConfigError(f"seed must be 0 or more; received {seed}. Use any non-negative integer.")
    return np.random.default_rng(seed)
