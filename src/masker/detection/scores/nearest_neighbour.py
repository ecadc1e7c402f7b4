r"""Cosine distance to the k-th nearest training document (Sun et al. 2022).

.. math::
    s(x) = 1 - \cos(h, h_{(k)})

h is the feature vector of x and :math:`h_{(k)}` that of the training document with the k-th highest cosine. The
training documents are a sample of limited size, the bank, so that the cost of a score does not grow with the corpus.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]

#: Documents whose similarities are held at a time.
CHUNK = 1024


def unit_rows(features: npt.NDArray[np.floating]) -> Vectors:
    """Rows scaled to length 1; a zero row stays zero."""
    rows = np.asarray(features, dtype=np.float32)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12), dtype=np.float32)


def nearest_neighbour_score(
    features: npt.NDArray[np.floating], bank: Vectors, neighbours: int
) -> npt.NDArray[np.float64]:
    """(N,) scores, between 0 and 2; higher = more out-of-distribution.

    Args:
        features: (N, H).
        bank: (M, H) training documents, of length 1.
        neighbours: k; the farthest of the bank where it has fewer.
    """
    rows = unit_rows(features)
    k = min(neighbours, len(bank))
    scores = np.empty(len(rows))
    for start in range(0, len(rows), CHUNK):
        similar = rows[start : start + CHUNK] @ bank.T  # (B, M)
        place = similar.shape[1] - k
        scores[start : start + CHUNK] = 1.0 - np.partition(similar, place, axis=1)[:, place]
    return scores
