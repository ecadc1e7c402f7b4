r"""Mahalanobis distance to the nearest class (Lee et al. 2018).

.. math::
    s(x) = \min_c (h - \mu_c)^T \Sigma^{-1} (h - \mu_c)

h is the feature vector of x, :math:`\mu_c` the mean of the training documents of class c and :math:`\Sigma` the
covariance around the means that all classes share, shrunk (:mod:`masker.detection.shrinkage`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from masker.detection.shrinkage import oas_covariance, whitening

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Gaussians:
    r"""Normal distributions with one covariance, in coordinates in which that is the identity.

    Attributes:
        whitening: (H, H) W with :math:`W W^T = \Sigma^{-1}`.
        centres: (C, H) means times W.
    """

    whitening: Floats
    centres: Floats

    def distances(self, features: npt.NDArray[np.floating]) -> Floats:
        """(N, C) squared Mahalanobis distances of (N, H) features."""
        return np.asarray(cdist(np.asarray(features, dtype=np.float64) @ self.whitening, self.centres, "sqeuclidean"))


def fit_gaussians(means: Floats, covariance: Floats, count: int) -> Gaussians:
    """Class means and the shrunk inverse of the covariance they share.

    Args:
        means: (C, H).
        covariance: (H, H) empirical covariance around the means.
        count: Documents behind it.
    """
    factor = whitening(oas_covariance(covariance, count))
    return Gaussians(factor, means @ factor)


def mahalanobis_score(features: npt.NDArray[np.floating], classes: Gaussians) -> Floats:
    """(N,) scores of (N, H) features; higher = more out-of-distribution."""
    return np.asarray(classes.distances(features).min(axis=1))
