r"""Shrinking a covariance towards a multiple of the identity, by as much as the oracle would (Chen et al. 2010, OAS).

.. math::
    \hat\Sigma = (1 - \rho) S + \rho \frac{tr\,S}{H} I, \qquad
    \rho = \min\Bigl(1, \frac{\overline{S^2} + m^2}{(n + 1) (\overline{S^2} - m^2 / H)}\Bigr)

S is the empirical covariance of n vectors of H numbers, m = tr S / H, and the bar is the mean over all entries of S²
taken entry by entry. With fewer documents than dimensions S has no inverse, and the small eigenvalues that do exist are
too small; the shrunk matrix is sound. Unlike that of Ledoit and Wolf the amount depends on S and n alone, so one pass
over the documents is enough.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: Least eigenvalue, in shares of the largest: features that never differ still have an inverse then.
FLOOR = 1e-10


def oas_covariance(covariance: Floats, count: int) -> Floats:
    """(H, H) shrunk covariance.

    Args:
        covariance: (H, H) empirical covariance S.
        count: n.
    """
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
    values, vectors = np.linalg.eigh(covariance)
    least = max(float(values[-1]) * FLOOR, np.finfo(np.float64).tiny)
    return np.asarray(vectors / np.sqrt(np.maximum(values, least)))
