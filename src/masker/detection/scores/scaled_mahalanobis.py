r"""Mahalanobis distance to the nearest class, in units of how far documents of that class lie themselves.

.. math::
    s(x) = \min_c \frac{d_c(x)}{r_c\, g(n)}, \qquad
    d_c(x) = (h - \mu_c)^T \Sigma^{-1} (h - \mu_c), \qquad
    \log r_c = \frac{m_c \log \operatorname{median}_i d_c^{-i}(x_i) + k \log r}{m_c + k}

The classes share the shape of :math:`\Sigma` and not its size: where documents of one class lie closer together than
those of another, a distance that is usual in the wide class is strange in the narrow one. :math:`r_c` is the median
over the :math:`m_c` documents of the class in the bank, drawn towards the median r over all documents as if k = 10 more
documents had that, so that a class of few documents has a size too. :math:`d_c^{-i}` is the distance from the mean of
the other :math:`n_c - 1` documents of the class, which is :math:`(n_c / (n_c - 1))^2 d_c`. What is usual depends on the
length n of x as well: g is in :mod:`masker.detection.length_effect`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from masker.detection.scores.mahalanobis import Gaussians

Floats = npt.NDArray[np.float64]

#: k: how many documents the spread of all classes counts for.
PRIOR_DOCUMENTS = 10.0


def own_sizes(distances: Floats, labels: npt.NDArray[np.int64], counts: Floats) -> Floats:
    """(M,) logarithms of the distances of documents from the means of their classes without them; NaN where none.

    Args:
        distances: (M, C) squared distances of the bank's documents from the class means.
        labels: (M,) their classes.
        counts: (C,) n, the documents behind each mean.
    """
    own = distances[np.arange(len(labels)), labels]
    factor = np.square(counts / np.maximum(counts - 1.0, 1.0))
    usable = (counts[labels] > 1.0) & (own > 0.0)
    return np.log(own * factor[labels], where=usable, out=np.full(len(labels), np.nan))


def class_spreads(sizes: Floats, labels: npt.NDArray[np.int64], n_classes: int) -> Floats:
    """(C,) spreads r of the classes; all 1 where no class has two documents that differ.

    Args:
        sizes: (M,) of :func:`own_sizes`.
        labels: (M,) classes of the same documents.
        n_classes: C.
    """
    usable = ~np.isnan(sizes)
    if not usable.any():
        return np.ones(n_classes)
    sizes, of_class = sizes[usable], labels[usable]
    overall = float(np.median(sizes))
    spreads = np.full(n_classes, overall)
    for label in np.unique(of_class):
        inside = sizes[of_class == label]
        share = len(inside) / (len(inside) + PRIOR_DOCUMENTS)
        spreads[label] += share * (float(np.median(inside)) - overall)
    return np.asarray(np.exp(spreads))


def scaled_mahalanobis_score(
    features: npt.NDArray[np.floating], classes: Gaussians, spreads: Floats, usual: Floats | float = 1.0
) -> Floats:
    """(N,) scores of (N, H) features; higher = more out-of-distribution.

    Args:
        features: (N, H).
        classes: One centre a class.
        spreads: (C,) of :func:`class_spreads`.
        usual: (N,) g, what the lengths of the documents make usual.
    """
    return np.asarray((classes.distances(features) / spreads).min(axis=1) / usual)
