r"""Cosine distance to the k-th nearest training document (Sun et al. 2022): ``knn``.

.. math::
    s(x) = 1 - \cos(h, h_{(k)})

h (H,) is the feature vector of x and :math:`h_{(k)}` that of the training document with the k-th highest cosine.
Deviation: the training documents are a sample of limited size, the bank, so the cost of a score does not grow with the
corpus.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from masker.config import Settings
from masker.detection.arrays import Floats
from masker.detection.score import Score, register_score
from masker.detection.statistics import Statistics
from masker.inference.outputs import Outputs

Vectors = npt.NDArray[np.float32]

#: Number of documents whose similarities are held at a time.
CHUNK = 1024


def unit_rows(features: npt.NDArray[np.floating]) -> Vectors:
    """Rows scaled to length 1; a zero row stays zero."""
    rows = np.asarray(features, dtype=np.float32)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12), dtype=np.float32)


def nearest_neighbour_score(features: npt.NDArray[np.floating], bank: Vectors, neighbours: int) -> Floats:
    """(N,) scores of (N, H) features, between 0 and 2; higher = more out-of-distribution.

    The (M, H) bank has rows of length 1. If it holds fewer than k documents, its farthest one counts.
    """
    rows = unit_rows(features)
    k = min(neighbours, len(bank))
    scores = np.empty(len(rows))
    for start in range(0, len(rows), CHUNK):
        similar = rows[start : start + CHUNK] @ bank.T  # (B, M)
        place = similar.shape[1] - k
        scores[start : start + CHUNK] = 1.0 - np.partition(similar, place, axis=1)[:, place]
    return scores


@register_score
class NearestNeighbourScore(Score):
    """Cosine distance to the k-th nearest document of the bank, in the last layer's document token."""

    name, features = "knn", ("cls",)

    def __init__(self, statistics: Statistics, neighbours: int) -> None:
        self._bank, self._neighbours = unit_rows(statistics.bank[self.features[0]]), neighbours

    @classmethod
    def build(cls, statistics: Statistics | None, settings: Settings) -> NearestNeighbourScore:
        assert statistics is not None
        return cls(statistics, settings.detection.neighbours)

    def ood_score(self, outputs: Outputs) -> Floats:
        return nearest_neighbour_score(outputs.features[self.features[0]], self._bank, self._neighbours)


@register_score
class NearestNeighbourMiddleScore(NearestNeighbourScore):
    """The same distance in the middle layers."""

    name, features = "knn-middle", ("middle",)
