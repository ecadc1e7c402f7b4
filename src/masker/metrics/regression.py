"""Correlation and squared error of predicted numbers.

Paper: Pearson correlation, for STS-B across genres (cross-domain tables). Spearman correlation and mean squared error
are not in the paper; the former is usual for STS-B, the latter is the training loss.

All functions raise :class:`~masker.errors.DataError` if the columns differ in length, are empty, or contain NaN or
infinities.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from masker.metrics.intervals import RESAMPLES, Interval, bootstrap
from masker.metrics.vectors import FloatArray, IntArray, as_vector, check_same_length


def pearson(true: npt.ArrayLike, predicted: npt.ArrayLike) -> float:
    r"""Pearson's correlation coefficient, in [-1, 1].

    .. math:: r = \frac{\sum_i (y_i - \bar{y}) (\hat{y}_i - \bar{\hat{y}})}
              {\sqrt{\sum_i (y_i - \bar{y})^2} \sqrt{\sum_i (\hat{y}_i - \bar{\hat{y}})^2}}

    Deviation: if either column is constant, the fraction is 0 / 0 and the result is 0.0, since JSON has no NaN. A
    collapsed model that always predicts the same number scores 0.
    """
    return _pearson(*_columns(true, predicted))


def spearman(true: npt.ArrayLike, predicted: npt.ArrayLike) -> float:
    r"""Spearman's rank correlation, in [-1, 1]: Pearson's coefficient of the ranks.

    .. math:: \rho = r(\mathrm{rank}(y), \mathrm{rank}(\hat{y}))

    Ties share their mean rank. 0.0 if either column is constant, as in :func:`pearson`.
    """
    return _spearman(*_columns(true, predicted))


def mean_squared_error(true: npt.ArrayLike, predicted: npt.ArrayLike) -> float:
    r"""Mean squared error. Lower is better.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} (y_i - \hat{y}_i)^2
    """
    y, y_hat = _columns(true, predicted)
    return float(np.mean((y - y_hat) ** 2))


def regression_report(
    true: npt.ArrayLike, predicted: npt.ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Interval]:
    """``pearson``, ``spearman`` and ``mse``, each with a 95 % bootstrap interval.

    All three share the resamples. A resample with a constant column has correlation 0.0.

    Raises:
        ConfigError: ``resamples`` or ``seed`` is out of range.
    """
    y, y_hat = _columns(true, predicted)
    squared_errors = (y - y_hat) ** 2
    statistics: dict[str, Callable[[IntArray], float]] = {
        "pearson": lambda rows: _pearson(y[rows], y_hat[rows]),
        "spearman": lambda rows: _spearman(y[rows], y_hat[rows]),
        "mse": lambda rows: float(squared_errors[rows].mean()),
    }
    return {
        name: bootstrap(statistic, y.size, resamples=resamples, seed=seed) for name, statistic in statistics.items()
    }


def _columns(true: npt.ArrayLike, predicted: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    y, y_hat = as_vector(true, "true", finite=True), as_vector(predicted, "predicted", finite=True)
    check_same_length(true=y, predicted=y_hat)
    return y, y_hat


def _pearson(y: FloatArray, y_hat: FloatArray) -> float:
    return float(np.clip(np.dot(_direction(y), _direction(y_hat)), -1.0, 1.0))


def _spearman(y: FloatArray, y_hat: FloatArray) -> float:
    from scipy.stats import rankdata

    return _pearson(rankdata(y), rankdata(y_hat))


def _direction(column: FloatArray) -> FloatArray:
    """The column centred and scaled to length 1; all zeros if it is constant."""
    if column.min() == column.max():  # the variance of a constant need not be 0: the mean is rounded
        return np.zeros_like(column)
    scaled = column / np.abs(column).max()  # squares must neither overflow nor underflow
    centred = scaled - scaled.mean()
    length = float(np.linalg.norm(centred))
    return centred / length if length > 0.0 else np.zeros_like(column)
