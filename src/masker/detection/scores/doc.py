r"""DOC's rejection (Shu, Xu and Liu 2017): one threshold a class, from a Gaussian around probability 1.

The probabilities p(y = i | x) of the training documents of class i are mirrored at 1, so that each p has a point
1 + (1 − p) opposite. The points have mean 1 and standard deviation σ_i over both halves:

.. math::
    \sigma_i = \sqrt{\frac{1}{n_i} \sum_{x \in i} (1 - p(y = i \mid x))^2}, \qquad
    t_i = \max(0.5,\ 1 - \alpha \sigma_i)

A document is rejected when every p_i is below t_i. The continuous score is the smallest of the shortfalls,

.. math::
    s(x) = \min_i (t_i - p_i) = -\max_i (p_i - t_i)

which exceeds 0 exactly for the documents that DOC rejects.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def gaussian_thresholds(probabilities: Floats, labels: npt.NDArray[np.int64], alpha: float) -> Floats:
    """(C,) thresholds t_i.

    Args:
        probabilities: (N, C) sigmoid outputs for the training documents.
        labels: (N,) their classes; each class has at least one document.
        alpha: How many standard deviations below 1 a probability may be; 3 in the paper.
    """
    n_classes = probabilities.shape[1]
    shortfall = (1.0 - probabilities[np.arange(len(labels)), labels]) ** 2
    counts = np.bincount(labels, minlength=n_classes)
    sigma = np.sqrt(np.bincount(labels, shortfall, minlength=n_classes) / np.maximum(counts, 1))
    return np.asarray(np.maximum(0.5, 1.0 - alpha * sigma))


def doc_score(probabilities: Floats, thresholds: Floats) -> Floats:
    """(N,) scores s(x) of (N, C) sigmoid outputs; above 0 where DOC rejects."""
    return np.asarray((thresholds - probabilities).min(axis=1))
