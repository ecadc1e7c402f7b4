r"""Mahalanobis distance to the nearest class (Lee et al. 2018).

.. math::
    s(x) = \min_c (h - \mu_c)^T \Sigma^{-1} (h - \mu_c)

h (H,) is the feature vector of x, :math:`\mu_c` (H,) the mean of the training documents of class c and :math:`\Sigma`
(H, H) the covariance around the class means, shared by all classes. Deviation: :math:`\Sigma` is shrunk
(:mod:`masker.detection.shrinkage`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from masker.config import Settings
from masker.detection.arrays import Floats
from masker.detection.score import Score, register_score
from masker.detection.shrinkage import oas_covariance, whitening
from masker.detection.statistics import Statistics
from masker.inference.outputs import Outputs


@dataclass(frozen=True)
class Gaussians:
    """Normal distributions with a shared covariance, in coordinates in which it is the identity."""

    whitening: Floats  # (H, H) W with W Wᵀ = Σ⁻¹
    centres: Floats  # (C, H) means times W

    def distances(self, features: npt.NDArray[np.floating]) -> Floats:
        """(N, C) squared Mahalanobis distances of (N, H) features."""
        return np.asarray(cdist(np.asarray(features, dtype=np.float64) @ self.whitening, self.centres, "sqeuclidean"))


def fit_gaussians(means: Floats, covariance: Floats, count: int) -> Gaussians:
    """From (C, H) class means and the (H, H) empirical covariance of ``count`` documents around them."""
    factor = whitening(oas_covariance(covariance, count))
    return Gaussians(factor, means @ factor)


def mahalanobis_score(features: npt.NDArray[np.floating], classes: Gaussians) -> Floats:
    """(N,) scores of (N, H) features; higher = more out-of-distribution."""
    return np.asarray(classes.distances(features).min(axis=1))


@register_score
class MahalanobisScore(Score):
    """Squared distance to the nearest class, in the last layer's document token."""

    name, features = "mahalanobis", ("cls",)

    def __init__(self, statistics: Statistics) -> None:
        moments = statistics.moments[self.features[0]]
        self._classes = fit_gaussians(moments.known_means, moments.covariance_within, moments.total)

    @classmethod
    def build(cls, statistics: Statistics | None, settings: Settings) -> MahalanobisScore:
        assert statistics is not None
        return cls(statistics)

    def ood_score(self, outputs: Outputs) -> Floats:
        return mahalanobis_score(outputs.features[self.features[0]], self._classes)


@register_score
class MahalanobisMiddleScore(MahalanobisScore):
    """The same distance in the middle layers."""

    name, features = "mahalanobis-middle", ("middle",)
