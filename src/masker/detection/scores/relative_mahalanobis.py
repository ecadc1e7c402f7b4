r"""Relative Mahalanobis distance (Ren et al. 2021): how much worse the nearest class explains a document than all do.

.. math::
    s(x) = \min_c (h - \mu_c)^T \Sigma^{-1} (h - \mu_c) \; - \; (h - \mu_0)^T \Sigma_0^{-1} (h - \mu_0)

h (H,), :math:`\mu_c` (H,) and :math:`\Sigma` (H, H) are as in :mod:`masker.detection.scores.mahalanobis`;
:math:`\mu_0` (H,) and :math:`\Sigma_0` (H, H) are mean and covariance of all training documents regardless of class.
What is unusual in all directions counts in both terms and cancels; what separates the classes remains, which helps with
near-distribution documents. Deviation: :math:`\Sigma_0` is the shrunk :math:`\Sigma` plus the covariance of the class
means. Shrunk by an amount of its own, it can become the narrower of the two where documents hardly differ, and far
documents would then score low.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from masker.detection.arrays import Floats
from masker.detection.score import register_score
from masker.detection.scores.mahalanobis import Gaussians, MahalanobisScore
from masker.detection.shrinkage import oas_covariance, whitening
from masker.detection.statistics import Statistics
from masker.inference.outputs import Outputs


def fit_background(mean: Floats, within: Floats, between: Floats, count: int) -> Gaussians:
    """One Gaussian for all documents, from their (H,) mean and (H, H) covariance within and between classes."""
    factor = whitening(oas_covariance(within, count) + between)
    return Gaussians(factor, mean[None] @ factor)


def relative_mahalanobis_score(features: npt.NDArray[np.floating], classes: Gaussians, background: Gaussians) -> Floats:
    """(N,) scores of (N, H) features; higher = more out-of-distribution."""
    return np.asarray(classes.distances(features).min(axis=1) - background.distances(features)[:, 0])


@register_score
class RelativeMahalanobisScore(MahalanobisScore):
    """Squared distance to the nearest class minus squared distance to all documents."""

    name, features = "relative-mahalanobis", ("cls",)

    def __init__(self, statistics: Statistics) -> None:
        super().__init__(statistics)
        moments = statistics.moments[self.features[0]]
        between = moments.covariance - moments.covariance_within
        self._background = fit_background(moments.mean, moments.covariance_within, between, moments.total)

    def ood_score(self, outputs: Outputs) -> Floats:
        return relative_mahalanobis_score(outputs.features[self.features[0]], self._classes, self._background)


@register_score
class RelativeMahalanobisMiddleScore(RelativeMahalanobisScore):
    """The same difference in the middle layers."""

    name, features = "relative-mahalanobis-middle", ("middle",)
