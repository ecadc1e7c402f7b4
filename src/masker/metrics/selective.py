r"""Selective classification: how wrong a classifier is on the texts it does not leave to others.

Sort the texts from the most to the least certain. Answering only the first :math:`k` of :math:`n` covers
:math:`k / n` of them at the risk

.. math:: r_k = \frac{1}{k} \sum_{i=1}^{k} [\hat{y}_i \ne y_i], \qquad
          \mathrm{AURC} = \frac{1}{n} \sum_{k=1}^{n} r_k

(Geifman and El-Yaniv, *Selective Classification for Deep Neural Networks*, 2017; Geifman et al., *Bias-Reduced
Uncertainty Estimation for Deep Neural Classifiers*, 2019). AURC is 0 for a classifier without errors and equals the
error rate, on average, when certainty says nothing. Equally certain texts are taken in random order: each counts with
the mean error of its group, so the result does not depend on the order of the rows. Not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from masker.errors import ConfigError
from masker.metrics.intervals import LEVEL, RESAMPLES, Interval, bootstrap
from masker.metrics.vectors import FloatArray, IntArray, as_vector, check_same_length


@dataclass(frozen=True, eq=False)
class RiskCoverage:
    """The curve, from the most certain text alone to all of them.

    Attributes:
        coverage: Share of texts answered, ascending. Shape ``(n,)``.
        risk: Share of wrong answers among them. Shape ``(n,)``.
    """

    coverage: FloatArray
    risk: FloatArray

    @property
    def area(self) -> float:
        """AURC."""
        return float(self.risk.mean())

    def thinned(self, points: int) -> list[list[float]]:
        """At most so many ``[coverage, risk]`` pairs, evenly spread over the coverage, the last one at 1.

        Raises:
            ConfigError: Fewer than one point is asked for.
        """
        if points < 1:
            raise ConfigError(f"points must be at least 1; received {points}. Use 100 for a smooth curve.")
        n = self.risk.size
        places = np.unique(np.ceil(np.arange(1, min(points, n) + 1) * n / min(points, n)).astype(np.int64) - 1)
        return [[float(self.coverage[place]), float(self.risk[place])] for place in places]


def risk_coverage(uncertainty: npt.ArrayLike, wrong: npt.ArrayLike) -> RiskCoverage:
    """Return the risk-coverage curve.

    Args:
        uncertainty: One number per text, higher = given up earlier: 1 - confidence, or an OOD score. Shape ``(n,)``.
        wrong: Whether the answer is wrong (booleans, or 0 and 1). Shape ``(n,)``.

    Raises:
        DataError: The columns differ in length, are empty, or hold NaN.
    """
    doubt, errors = as_vector(uncertainty, "uncertainty"), as_vector(wrong, "wrong", finite=True)
    check_same_length(uncertainty=doubt, wrong=errors)
    return _curve(doubt, errors)


def aurc(uncertainty: npt.ArrayLike, wrong: npt.ArrayLike) -> float:
    """Area under the risk-coverage curve; the lower the better."""
    return risk_coverage(uncertainty, wrong).area


def selective_report(
    uncertainty: npt.ArrayLike,
    wrong: npt.ArrayLike,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> tuple[Interval, RiskCoverage]:
    """AURC with a percentile bootstrap interval, and the curve itself."""
    curve = risk_coverage(uncertainty, wrong)
    doubt, errors = as_vector(uncertainty, "uncertainty"), as_vector(wrong, "wrong")

    def area(rows: IntArray) -> float:
        return _curve(doubt[rows], errors[rows]).area

    return bootstrap(area, doubt.size, resamples=resamples, seed=seed, level=level), curve


def _curve(doubt: FloatArray, errors: FloatArray) -> RiskCoverage:
    _, group = np.unique(doubt, return_inverse=True)
    sizes = np.bincount(group)
    expected = np.repeat(np.bincount(group, weights=errors) / sizes, sizes)  # in the order of ascending doubt
    answered = np.arange(1, doubt.size + 1)
    return RiskCoverage(answered / doubt.size, np.cumsum(expected) / answered)
