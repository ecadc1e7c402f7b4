r"""Relative Mahalanobis distance (Ren et al. 2021): how much worse a class explains a document than all together do.

.. math::
    s(x) = \min_c (h - \mu_c)^T \Sigma^{-1} (h - \mu_c) \; - \; (h - \mu_0)^T \Sigma_0^{-1} (h - \mu_0)

:math:`\mu_0, \Sigma_0` are mean and covariance of all training documents without regard to class. What is unusual in
all directions counts in both terms and cancels; what tells the classes apart is left, which helps with documents that
are near. Deviation: :math:`\Sigma_0` is the shrunk :math:`\Sigma` plus the covariance of the class means. Shrunk by an
amount of its own it can be the narrower of the two where documents hardly differ, and what is far then scores low.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from masker.detection.scores.mahalanobis import Gaussians
from masker.detection.shrinkage import oas_covariance, whitening

Floats = npt.NDArray[np.float64]


def fit_background(mean: Floats, within: Floats, between: Floats, count: int) -> Gaussians:
    """All documents as one.

    Args:
        mean: (H,).
        within: (H, H) empirical covariance around the class means.
        between: (H, H) covariance of the class means.
        count: Documents behind them.
    """
    factor = whitening(oas_covariance(within, count) + between)
    return Gaussians(factor, mean[None] @ factor)


def relative_mahalanobis_score(features: npt.NDArray[np.floating], classes: Gaussians, background: Gaussians) -> Floats:
    """(N,) scores of (N, H) features; higher = more out-of-distribution.

    Args:
        features: (N, H).
        classes: One centre a class.
        background: One centre for all documents.
    """
    return np.asarray(classes.distances(features).min(axis=1) - background.distances(features)[:, 0])
