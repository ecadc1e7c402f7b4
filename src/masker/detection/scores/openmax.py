r"""OpenMax (Bendale and Boult 2016): a softmax with an additional class, "none of these".

For each class i the mean activation vector μ_i (C,) is taken over the training documents that the network classifies
correctly; the largest of their distances to μ_i are fitted by a Weibull distribution with cumulative distribution F_i.
For a document with activation vector v (C,), the logits, the α highest activations are revised. With r(i) = 1, 2, … the
rank of class i:

.. math::
    \omega_i = 1 - \frac{\alpha - r(i) + 1}{\alpha} F_i(d(v, \mu_i)), \quad
    \hat v_i = v_i \omega_i, \quad
    \hat v_0 = \sum_i v_i (1 - \omega_i), \quad
    P = softmax(\hat v_0, \hat v_1, \dots, \hat v_C)

P_0 is the probability of the unknown class, and the score. Deviations:

* The rank weight is that of the authors' code, (α − r + 1)/α; the printed algorithm has (α − r)/α, which leaves the
  best class unrevised for α = 1. α is at most C.
* The Weibull distribution has location 0 after the tail is shifted so that its smallest distance is 1, as in the
  authors' libMR; F = 0 for a distance that lies 1 or more below the tail.
* A tail is at most half of a class's documents: the 20 largest of 20 distances are not a tail.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist
from scipy.special import softmax

from masker.config import BaselineSettings, Settings
from masker.detection.arrays import Arrays, Floats, Labels
from masker.detection.score import LearntScore, register_score
from masker.inference.outputs import Outputs

Distance = Literal["euclidean", "euclidean-cosine"]

#: Weight of the Euclidean part of ``euclidean-cosine``; 1/200 in the authors' code.
EUCLIDEAN_WEIGHT = 1 / 200
#: If distances differ by less, there is no tail to fit.
LEAST_SPREAD = 1e-6


@dataclass(frozen=True)
class OpenMaxStatistics:
    """What OpenMax learns of each class."""

    means: Floats  # (C, C) mean activation vectors μ_i
    shape: Floats  # (C,) Weibull shapes
    scale: Floats  # (C,) Weibull scales
    tail_start: Floats  # (C,) smallest distance of each tail


def fit_weibull_tail(distances: Floats, tail: int) -> tuple[float, float, float]:
    """Shape, scale and start of the Weibull distribution of the ``tail`` largest distances, shifted to start at 1.

    Equal distances have no tail: the scale is then infinite, so that F = 0 everywhere.
    """
    from scipy.stats import weibull_min  # slow to import, and naming any score imports this module

    largest = np.sort(distances)[-min(tail, max(3, len(distances) // 2)) :]
    start = float(largest[0])
    if np.ptp(largest) < LEAST_SPREAD:
        return 1.0, np.inf, start
    shape, _, scale = weibull_min.fit(largest - start + 1.0, floc=0.0)
    return float(shape), float(scale), start


def fit_openmax(
    doc_logits: npt.NDArray[np.floating], labels: Labels, *, tail: int, distance: Distance
) -> OpenMaxStatistics:
    """Mean activation vectors and Weibull tails of the training documents, from (N, C) activations and (N,) classes.

    Args:
        tail: Number of largest distances to fit; at most half of a class's distances, at least 3.
        distance: ``euclidean``, or ``euclidean-cosine``: Euclidean / 200 + cosine distance, as the authors do.

    A class without a correctly classified document is described by all its documents. A class of one or two documents,
    which are equally far from their mean, uses the tail of all classes together.
    """
    logits = np.asarray(doc_logits, dtype=np.float64)
    right = logits.argmax(axis=1) == labels
    means, distances = [], []
    for index in range(logits.shape[1]):
        of_class = labels == index
        members = logits[of_class & right] if (of_class & right).any() else logits[of_class]
        means.append(members.mean(axis=0))
        distances.append(activation_distances(members, means[-1][None], distance)[:, 0])
    together = np.concatenate(distances)
    tails = [fit_weibull_tail(own if np.ptp(own) >= LEAST_SPREAD else together, tail) for own in distances]
    shape, scale, start = np.array(tails).T
    return OpenMaxStatistics(np.array(means), shape, scale, start)


def activation_distances(logits: Floats, means: Floats, distance: Distance) -> Floats:
    """(N, M) distances d(v, μ) of N activation vectors to M means."""
    euclidean = np.asarray(cdist(logits, means))
    if distance == "euclidean":
        return euclidean
    # Not cdist's cosine, which is NaN for a zero vector.
    norms = np.linalg.norm(logits, axis=1)[:, None] * np.linalg.norm(means, axis=1)
    return np.asarray(EUCLIDEAN_WEIGHT * euclidean + 1.0 - logits @ means.T / np.maximum(norms, 1e-12))


def openmax_probabilities(
    doc_logits: npt.NDArray[np.floating], statistics: OpenMaxStatistics, *, alpha: int, distance: Distance
) -> Floats:
    """(N, 1 + C) probabilities P of (N, C) activations; column 0 is the unknown class."""
    from scipy.stats import weibull_min

    logits = np.asarray(doc_logits, dtype=np.float64)
    n_classes = logits.shape[1]
    alpha = min(alpha, n_classes)
    distances = activation_distances(logits, statistics.means, distance)
    moved = np.maximum(distances - statistics.tail_start + 1.0, 0.0)
    outlying = weibull_min.cdf(moved, statistics.shape, scale=statistics.scale)  # F_i, (N, C)
    rank = np.argsort(np.argsort(-logits, axis=1, kind="stable"), axis=1)  # 0 for the best class
    doubt = np.maximum(alpha - rank, 0) / alpha * outlying  # 1 − ω
    unknown = (logits * doubt).sum(axis=1, keepdims=True)
    return np.asarray(softmax(np.concatenate([unknown, logits * (1.0 - doubt)], axis=1), axis=1))


@register_score
class OpenMaxScore(LearntScore):
    """The probability of OpenMax' unknown class."""

    name = "openmax"
    method_only = True

    def __init__(self, statistics: OpenMaxStatistics, settings: BaselineSettings) -> None:
        self._statistics, self._settings = statistics, settings

    def ood_score(self, outputs: Outputs) -> Floats:
        alpha, distance = self._settings.openmax_alpha, self._settings.openmax_distance
        probabilities = openmax_probabilities(outputs.logits, self._statistics, alpha=alpha, distance=distance)
        return np.asarray(probabilities[:, 0])

    @classmethod
    def fit(cls, outputs: Outputs, labels: Labels, settings: Settings) -> OpenMaxScore:
        chosen = settings.baselines
        statistics = fit_openmax(outputs.logits, labels, tail=chosen.openmax_tail, distance=chosen.openmax_distance)
        return cls(statistics, chosen)

    def state(self) -> Arrays:
        return asdict(self._statistics)

    @classmethod
    def from_state(cls, state: Arrays, settings: Settings) -> OpenMaxScore:
        return cls(OpenMaxStatistics(**state), settings.baselines)
