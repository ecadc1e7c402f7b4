r"""Shrinkage of a covariance towards a multiple of the identity: oracle approximating shrinkage (Chen et al. 2010).

.. math::
    \hat\Sigma = (1 - \rho) S + \rho \frac{tr\,S}{H} I, \qquad
    \rho = \min\Bigl(1, \frac{\overline{S^2} + m^2}{(n + 1) (\overline{S^2} - m^2 / H)}\Bigr)

S is the (H, H) empirical covariance of n vectors, m = tr S / H, and the bar is the mean over all entries of S squared
entry by entry. With fewer documents than dimensions S has no inverse, and its small eigenvalues are too small; the
shrunk matrix is well conditioned. Unlike Ledoit and Wolf's, this :math:`\rho` depends on S and n alone, so one pass
over the documents is enough. (``sklearn.covariance.oas`` needs the documents themselves.)
"""

from __future__ import annotations

import numpy as np

from masker.blas_threads import one_blas_thread
from masker.detection.arrays import Floats

#: Smallest eigenvalue as a share of the largest, so that constant features do not make the matrix singular.
FLOOR = 1e-10


def oas_covariance(covariance: Floats, count: int) -> Floats:
    """(H, H) shrunk covariance, from the empirical covariance S of n = ``count`` vectors."""
    dimensions = len(covariance)
    level = float(np.trace(covariance)) / dimensions
    mean_square = float(np.mean(covariance**2))
    spread = (count + 1.0) * (mean_square - level**2 / dimensions)
    share = 1.0 if spread <= 0.0 else min(1.0, (mean_square + level**2) / spread)
    shrunk = (1.0 - share) * covariance
    shrunk[np.diag_indices(dimensions)] += share * level
    return shrunk


def whitening(covariance: Floats) -> Floats:
    r"""(H, H) matrix W with :math:`W W^T = \Sigma^{-1}`: distances between rows times W are Mahalanobis distances."""
    with one_blas_thread():
        values, vectors = np.linalg.eigh(covariance)
    least = max(float(values[-1]) * FLOOR, np.finfo(np.float64).tiny)
    return np.asarray(vectors / np.sqrt(np.maximum(values, least)))
