r"""Mahalanobis distance to the nearest class, relative to how far documents of that class typically lie from it.

.. math::
    s(x) = \min_c \frac{d_c(x)}{r_c\, g(n)}, \qquad
    d_c(x) = (h - \mu_c)^T \Sigma^{-1} (h - \mu_c), \qquad
    \log r_c = \frac{m_c \log \operatorname{median}_i d_c^{-i}(x_i) + k \log r}{m_c + k}

h (H,), :math:`\mu_c` (H,) and :math:`\Sigma` (H, H) are as in :mod:`masker.detection.scores.mahalanobis`.
The classes share the shape of :math:`\Sigma` but not its size: a distance that is typical in a wide class is strange in
a narrow one. :math:`r_c` is the median over the :math:`m_c` documents of the class in the bank, shrunk towards the
median r over all documents as if k = 10 more documents had it, so that a class of few documents has a size too.
:math:`d_c^{-i}` is the distance from the mean of the other :math:`n_c - 1` documents of the class, which is
:math:`(n_c / (n_c - 1))^2 d_c`. What is typical also depends on the length n of x: g is in
:mod:`masker.detection.length_effect`. This score is our own.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from masker.detection.arrays import Floats, Labels
from masker.detection.length_effect import LengthEffect
from masker.detection.score import register_score
from masker.detection.scores.mahalanobis import Gaussians, MahalanobisScore
from masker.detection.statistics import Statistics
from masker.inference.outputs import Outputs

#: k: the number of documents that the spread of all classes counts for.
PRIOR_DOCUMENTS = 10.0


def own_sizes(distances: Floats, labels: Labels, counts: Floats) -> Floats:
    """(M,) log distances of documents from the mean of the other documents of their class; NaN where undefined.

    From (M, C) squared distances to the class means, (M,) classes and the (C,) numbers n of documents behind each mean.
    """
    own = distances[np.arange(len(labels)), labels]
    factor = np.square(counts / np.maximum(counts - 1.0, 1.0))
    usable = (counts[labels] > 1.0) & (own > 0.0)
    return np.log(own * factor[labels], where=usable, out=np.full(len(labels), np.nan))


def class_spreads(sizes: Floats, labels: Labels, n_classes: int) -> Floats:
    """(C,) spreads r of the classes from :func:`own_sizes`; all 1 if no class has two documents that differ."""
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
    """(N,) scores of (N, H) features, with (C,) r and (N,) g; higher = more out-of-distribution."""
    return np.asarray((classes.distances(features) / spreads).min(axis=1) / usual)


@register_score
class ScaledMahalanobisScore(MahalanobisScore):
    """Squared distance to the nearest class, relative to its spread and to the length of the document."""

    name, features = "scaled-mahalanobis", ("cls",)

    def __init__(self, statistics: Statistics) -> None:
        super().__init__(statistics)
        kind = self.features[0]
        distances, counts = self._classes.distances(statistics.bank[kind]), statistics.moments[kind].counts
        place = np.cumsum(counts > 0) - 1  # index of a class among those that have documents
        labels, counts = place[statistics.bank_labels], counts[counts > 0]
        sizes = own_sizes(distances, labels, counts)
        self._spreads = class_spreads(sizes, labels, len(counts))
        self._usual: LengthEffect | None = None
        usable = ~np.isnan(sizes)
        if statistics.bank_lengths is not None and usable.any():
            relative = (sizes - np.log(self._spreads)[labels])[usable]
            self._usual = LengthEffect.fit(statistics.bank_lengths[usable], relative)

    def ood_score(self, outputs: Outputs) -> Floats:
        usual: Floats | float = 1.0
        if self._usual is not None:
            assert outputs.lengths is not None
            usual = self._usual(outputs.lengths)
        return scaled_mahalanobis_score(outputs.features[self.features[0]], self._classes, self._spreads, usual)


@register_score
class ScaledMahalanobisMiddleScore(ScaledMahalanobisScore):
    """The same distance in the middle layers."""

    name, features = "scaled-mahalanobis-middle", ("middle",)
