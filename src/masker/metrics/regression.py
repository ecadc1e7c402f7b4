"""How well predicted numbers follow the true ones.

Paper: Pearson correlation, for STS-B across genres (cross-domain tables). Spearman correlation and mean squared error
are not in the paper; the first is usual for STS-B, the second is what training minimises.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from masker.metrics.intervals import LEVEL, RESAMPLES, Interval, bootstrap
from masker.metrics.vectors import FloatArray, IntArray, as_vector, check_same_length


def pearson(true: npt.ArrayLike, predicted: npt.ArrayLike) -> float:
    r"""Pearson's correlation coefficient, in [-1, 1].

    .. math:: r = \frac{\sum_i (y_i - \bar{y}) (\hat{y}_i - \bar{\hat{y}})}
              {\sqrt{\sum_i (y_i - \bar{y})^2} \sqrt{\sum_i (\hat{y}_i - \bar{\hat{y}})^2}}

    Deviation: where either column is constant the fraction is 0 / 0. The result is then 0.0, "no linear relation
    shown", because NaN has no place in a JSON file; a collapsed model that always predicts one number scores 0.

    Raises:
        DataError: The columns differ in length, are empty, or hold NaN or infinities.
    """
    return _pearson(*_columns(true, predicted))


def spearman(true: npt.ArrayLike, predicted: npt.ArrayLike) -> float:
    r"""Spearman's rank correlation, in [-1, 1]: Pearson's coefficient of the ranks.

    .. math:: \rho = r(\mathrm{rank}(y), \mathrm{rank}(\hat{y}))

    Equal values share the mean of the ranks they cover. 0.0 where either column is constant, as for :func:`pearson`.

    Raises:
        DataError: The columns differ in length, are empty, or hold NaN or infinities.
    """
    y, y_hat = _columns(true, predicted)
    return _pearson(_mean_ranks(_places(y)), _mean_ranks(_places(y_hat)))


def mean_squared_error(true: npt.ArrayLike, predicted: npt.ArrayLike) -> float:
    r"""Mean squared error. Lower is better.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} (y_i - \hat{y}_i)^2

    Raises:
        DataError: The columns differ in length, are empty, or hold NaN or infinities.
    """
    y, y_hat = _columns(true, predicted)
    return float(np.mean((y - y_hat) ** 2))


def regression_report(
    true: npt.ArrayLike,
    predicted: npt.ArrayLike,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> dict[str, Interval]:
    """Compute both correlations and the mean squared error, each with a percentile bootstrap interval.

    All three share the resamples. A resample in which a column is constant counts with correlation 0.0.

    Args:
        true: True numbers, one per row.
        predicted: Predicted numbers, one per row.
        resamples: How many times to draw.
        seed: Seed of the draws.
        level: Share of the resampled values inside each interval.

    Returns:
        ``pearson``, ``spearman`` and ``mse``.

    Raises:
        ConfigError: ``resamples``, ``seed`` or ``level`` is out of range.
        DataError: The columns differ in length, are empty, or hold NaN or infinities.
    """
    y, y_hat = _columns(true, predicted)
    y_places, y_hat_places = _places(y), _places(y_hat)
    squared_errors = (y - y_hat) ** 2

    def rank_correlation(rows: IntArray) -> float:
        return _pearson(_mean_ranks(y_places[rows]), _mean_ranks(y_hat_places[rows]))

    statistics = {
        "pearson": lambda rows: _pearson(y[rows], y_hat[rows]),
        "spearman": rank_correlation,
        "mse": lambda rows: float(squared_errors[rows].mean()),
    }
    return {
        name: bootstrap(statistic, y.size, resamples=resamples, seed=seed, level=level)
        for name, statistic in statistics.items()
    }


def _columns(true: npt.ArrayLike, predicted: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    y = as_vector(true, "true", finite=True)
    y_hat = as_vector(predicted, "predicted", finite=True)
    check_same_length(true=y, predicted=y_hat)
    return y, y_hat


def _pearson(y: FloatArray, y_hat: FloatArray) -> float:
    directions = [_direction(y), _direction(y_hat)]
    return float(np.clip(np.dot(*directions), -1.0, 1.0))


def _direction(column: FloatArray) -> FloatArray:
    """Return the column centred and scaled to length 1; all zeros if it is constant."""
    if column.min() == column.max():  # not a test on the variance: rounding of the mean would hide a constant
        return np.zeros_like(column)
    scaled = column / np.abs(column).max()  # so that squares neither overflow nor vanish
    centred = scaled - scaled.mean()
    length = float(np.linalg.norm(centred))
    return centred / length if length > 0.0 else np.zeros_like(column)


def _places(column: FloatArray) -> IntArray:
    """Return each value's place among the distinct values, ascending from 0."""
    return np.unique(column, return_inverse=True)[1].astype(np.int64)


def _mean_ranks(places: IntArray) -> FloatArray:
    """Return ranks from 1, ties sharing their mean; from places, so that resamples need no sort."""
    counts = np.bincount(places)
    last = np.cumsum(counts)
    middle: FloatArray = last - (counts - 1) / 2.0
    return middle[places]
