r"""Selective classification: the error rate of a classifier that may abstain.

Sort the texts from the most to the least certain. Answering only the first :math:`k` of :math:`n` gives coverage
:math:`k / n` and risk

.. math:: r_k = \frac{1}{k} \sum_{i=1}^{k} [\hat{y}_i \ne y_i], \qquad
          \mathrm{AURC} = \frac{1}{n} \sum_{k=1}^{n} r_k

(Geifman and El-Yaniv, *Selective Classification for Deep Neural Networks*, 2017; Geifman et al., *Bias-Reduced
Uncertainty Estimation for Deep Neural Classifiers*, 2019). AURC is 0 for a classifier without errors and, on average,
the error rate if certainty carries no information. Ties are taken in random order: each text counts with the mean error
of its group, so the result does not depend on the order of the rows. Not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from masker.errors import ConfigError
from masker.metrics.intervals import RESAMPLES, Interval, bootstrap
from masker.metrics.vectors import FloatArray, IntArray, as_vector, check_same_length


@dataclass(frozen=True, eq=False)
class RiskCoverage:
    """The risk-coverage curve, from the most certain text alone to all ``n`` texts."""

    coverage: FloatArray  # (n,) share of texts answered, ascending
    risk: FloatArray  # (n,) share of those answered wrongly

    @property
    def area(self) -> float:
        """AURC."""
        return float(self.risk.mean())

    def thinned(self, points: int) -> list[list[float]]:
        """At most ``points`` pairs ``[coverage, risk]``, evenly spaced in coverage; the last has coverage 1."""
        if points < 1:
            raise ConfigError(f"points must be at least 1; received {points}. Use 100 for a smooth curve.")
        n = self.risk.size
        places = np.unique(np.ceil(np.arange(1, min(points, n) + 1) * n / min(points, n)).astype(np.int64) - 1)
        return [[float(self.coverage[place]), float(self.risk[place])] for place in places]


def risk_coverage(uncertainty: npt.ArrayLike, wrong: npt.ArrayLike) -> RiskCoverage:
    """The curve of ``(n,)`` texts; the most uncertain, by 1 - confidence or an OOD score, are rejected first.

    ``wrong`` says whether each answer is wrong (booleans, or 0 and 1).

    Raises:
        DataError: The columns differ in length, are empty, or contain NaN.
    """
    doubt, errors = as_vector(uncertainty, "uncertainty"), as_vector(wrong, "wrong", finite=True)
    check_same_length(uncertainty=doubt, wrong=errors)
    return _curve(doubt, errors)


def aurc(uncertainty: npt.ArrayLike, wrong: npt.ArrayLike) -> float:
    """Area under the risk-coverage curve. Lower is better."""
    return risk_coverage(uncertainty, wrong).area


def selective_report(
    uncertainty: npt.ArrayLike, wrong: npt.ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[Interval, RiskCoverage]:
    """AURC with a 95 % bootstrap interval, and the curve itself."""
    curve = risk_coverage(uncertainty, wrong)
    doubt, errors = as_vector(uncertainty, "uncertainty"), as_vector(wrong, "wrong")

    def area(rows: IntArray) -> float:
        return _curve(doubt[rows], errors[rows]).area

    return bootstrap(area, doubt.size, resamples=resamples, seed=seed), curve


def _curve(doubt: FloatArray, errors: FloatArray) -> RiskCoverage:
    _, group = np.unique(doubt, return_inverse=True)
    sizes = np.bincount(group)
    expected = np.repeat(np.bincount(group, weights=errors) / sizes, sizes)  # by ascending doubt
    answered = np.arange(1, doubt.size + 1)
    return RiskCoverage(answered / doubt.size, np.cumsum(expected) / answered)
