r"""Virtual-logit matching (Wang et al. 2022): what of a document lies outside the training documents' main directions.

.. math::
    s(x) = \alpha \lVert h^{\perp} \rVert - \log \sum_c e^{z_c}, \qquad
    \alpha = \frac{\sum_i \lvert \max_c z_c^{(i)} \rvert}{\sum_i \lVert h^{\perp (i)} \rVert}

:math:`h^\perp` is the part of h − o that is orthogonal to the D eigenvectors of the training features' covariance with
the largest eigenvalues; :math:`\alpha` makes it as large as a highest logit on average over training documents. With a
1-vs-rest head the energy is the joint one (:mod:`masker.detection.scores.energy`). Deviations:

* The origin o is the mean of the training features. In the paper it is where the last linear layer gives the bias
  alone; between our features and logits an architecture may have further layers.
* The paper takes the sum of highest logits; those of a 1-vs-rest head can be negative, hence their size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from masker.config import Head
from masker.detection.scores.energy import energy_score

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class VirtualLogit:
    """What a document's virtual logit is computed from.

    Attributes:
        origin: (H,) o.
        residual: (H, H − D) orthonormal directions outside the main ones.
        scale: α.
    """

    origin: Floats
    residual: Floats
    scale: float


def residual_norms(features: npt.NDArray[np.floating], origin: Floats, residual: Floats) -> Floats:
    """(N,) lengths of the parts outside the main directions."""
    return np.asarray(np.linalg.norm((np.asarray(features, dtype=np.float64) - origin) @ residual, axis=1))


def fit_virtual_logit(
    mean: Floats,
    covariance: Floats,
    sample: npt.NDArray[np.floating],
    sample_logits: npt.NDArray[np.floating],
    dimensions: int | None = None,
) -> VirtualLogit:
    """Main directions from the covariance of all training documents, the scale from a sample of them.

    Args:
        mean: (H,).
        covariance: (H, H).
        sample: (M, H) features of training documents.
        sample_logits: (M, C) their logits.
        dimensions: D; ``None`` takes half of H.
    """
    kept = len(mean) // 2 if dimensions is None else dimensions
    _, vectors = np.linalg.eigh(covariance)  # smallest eigenvalue first
    residual = vectors[:, : len(mean) - kept]
    lengths = residual_norms(sample, mean, residual).sum()
    sizes = np.abs(np.asarray(sample_logits, dtype=np.float64).max(axis=1)).sum()
    return VirtualLogit(mean, residual, float(sizes / max(lengths, 1e-12)))


def vim_score(
    features: npt.NDArray[np.floating], doc_logits: npt.NDArray[np.floating], known: VirtualLogit, head: Head
) -> Floats:
    """(N,) scores of (N, H) features and (N, C) logits; higher = more out-of-distribution."""
    virtual = known.scale * residual_norms(features, known.origin, known.residual)
    return np.asarray(virtual + energy_score(doc_logits, head))
