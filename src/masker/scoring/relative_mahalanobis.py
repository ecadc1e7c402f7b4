r"""Relative Mahalanobis distance (Ren et al. 2021): how much worse a class explains a document than all together do.

.. math::
    s(x) = \min_c (h - \mu_c)^T \Sigma^{-1} (h - \mu_c) \; - \; (h - \mu_0)^T \Sigma_0^{-1} (h - \mu_0)

:math:`\mu_0, \Sigma_0` are mean and covariance of all training documents without regard to class, shrunk like
:math:`\Sigma`. What is unusual in all directions counts in both terms and cancels; what tells the classes apart is
left, which helps with documents that are near.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from masker.scoring.mahalanobis import Gaussians

Floats = npt.NDArray[np.float64]


def relative_mahalanobis_score(features: npt.NDArray[np.floating], classes: Gaussians, background: Gaussians) -> Floats:
    """(N,) scores of (N, H) features; higher = more out-of-distribution.

    Args:
        features: (N, H).
        classes: One centre a class.
        background: One centre for all documents.
    """
    return np.asarray(classes.distances(features).min(axis=1) - background.distances(features)[:, 0])
