r"""Groups among vectors: spectral clustering of the graph of shared neighbours. It finds their number itself.

.. math::
    w_{ij} = \frac{|N_i \cap N_j|}{|N_i \cup N_j|} \;\; (j \in N_i \lor i \in N_j), \qquad
    S = D^{-1/2} W D^{-1/2}, \qquad
    k^* = \arg\max_k \; (\lambda_k - \lambda_{k+1}) \, s(k)

:math:`N_i` are the nearest neighbours of text i, D has the row sums of W, and :math:`\lambda_1 \ge \lambda_2 \ge \dots`
are the eigenvalues of S. Were the groups not connected at all, k of the eigenvalues would be 1 (von Luxburg 2007); the
gap after the k-th says how nearly that is so. It is averaged over graphs with fewer and with more neighbours, since a
single graph may show a gap by chance. s(k) is the mean silhouette of the k groups in the space of the texts,
computed for the largest gaps only; it settles which of several gaps is meant, as classes have parts and form families.
The groups are those of k-means among the rows of the first k eigenvectors, scaled to length 1 (Ng et al. 2001).

A text most of whose neighbours are in other groups belongs to none, and so do groups of very few texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.detection.scores.nearest_neighbour import unit_rows
from masker.discovery.text_space import Vectors
from masker.extras import require

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

#: Neighbours of a text in the graphs whose gaps are averaged; the groups are those of the second one.
NEIGHBOURS = (10, 15, 20)
#: For so many texts; with twice as many, a text has twice as many neighbours, up to so many times. A thousand mails of
#: five kinds would fall into their threads otherwise.
TEXTS_OF_NEIGHBOURS, MOST_TIMES = 500, 4
#: The largest gaps, whose numbers of groups are tried.
TRIED = 5
#: The group of a text that belongs to none.
NOISE = -1
#: Fewer texts are no group.
LEAST_TEXTS = 4
#: A text belongs to its group if this share of its neighbours does.
LEAST_NEIGHBOURS = 0.2
#: With a lower mean silhouette there is nothing to tell groups apart by.
LEAST_SILHOUETTE = 0.02


@dataclass(frozen=True)
class Grouping:
    """G groups, largest first."""

    labels: Places  # (N,) the group of each text, or NOISE
    centres: Vectors  # (G, H) of length 1
    reaches: Floats  # (G,) the lowest cosine with its centre that a text of the group has, but for a twentieth of them

    def assign(self, vectors: Vectors) -> Places:
        """(M,) nearest groups of M further vectors; NOISE where a text is out of reach."""
        if not len(self.centres):
            return np.full(len(vectors), NOISE)
        cosines = vectors @ self.centres.T
        best = cosines.argmax(axis=1)
        return np.where(cosines[np.arange(len(best)), best] >= self.reaches[best], best, NOISE)

    def reordered(self, order: Places) -> Grouping:
        """The same groups, in an order given by their present numbers."""
        return Grouping(renumbered(self.labels, order), self.centres[order], self.reaches[order])


def renumbered(labels: Places, order: Places) -> Places:
    """(N,) groups of texts, numbered by their places in ``order``; NOISE stays."""
    numbers = np.full(len(order) + 1, NOISE)  # the last entry is that of NOISE
    numbers[order] = np.arange(len(order))
    return numbers[labels]


def find_groups(vectors: Vectors, most: int, seed: int = 0) -> Grouping:
    """Group (N, H) vectors of length 1 into at most ``most`` groups."""
    require("grouping texts", "sklearn")
    if len(vectors) < 2 * LEAST_TEXTS:
        return _finished(vectors, np.zeros(len(vectors), dtype=np.int64))
    apart = unit_rows(vectors - vectors.mean(axis=0))  # what the texts have in common tells no groups apart
    near = [nearest_neighbours(apart, count) for count in neighbour_counts(len(vectors))]
    eigenvalues = min(most, len(vectors) // LEAST_TEXTS) + 1
    spectra = [spectrum(shared_neighbours(places), eigenvalues, seed) for places in near]
    # After the second eigenvalue, the third, ...: gaps[0] speaks for two groups.
    gaps = np.mean([values[1:-1] - values[2:] for values, _ in spectra], axis=0)
    labels = _best_cut(apart, gaps, spectra[1][1], seed)
    own = (labels[near[1]] == labels[:, None]).mean(axis=1)
    return _finished(vectors, np.where(own >= LEAST_NEIGHBOURS, labels, NOISE))


def neighbour_counts(texts: int) -> list[int]:
    """How many neighbours a text has in each graph, among so many texts."""
    times = min(max(1, texts // TEXTS_OF_NEIGHBOURS), MOST_TIMES)
    return [min(times * count, texts // 2) for count in NEIGHBOURS]


def nearest_neighbours(vectors: Vectors, count: int) -> Places:
    """(N, count) the nearest other texts of each text, by cosine, in no order."""
    near = np.empty((len(vectors), count), dtype=np.int64)
    for start in range(0, len(vectors), 1024):
        similar = vectors[start : start + 1024] @ vectors.T
        similar[np.arange(len(similar)), np.arange(start, start + len(similar))] = -np.inf
        near[start : start + 1024] = np.argpartition(-similar, count - 1, axis=1)[:, :count]
    return near


def shared_neighbours(near: Places) -> Any:
    """The sparse (N, N) matrix W of the equation, from the (N, n) neighbours of each text."""
    from scipy.sparse import csr_array

    count, width = near.shape
    links = csr_array((np.ones(near.size), (np.repeat(np.arange(count), width), near.ravel())), shape=(count, count))
    shared = ((links @ links.T) * ((links + links.T) > 0)).tocoo()
    apart = shared.row != shared.col
    weights = shared.data[apart] / (2.0 * width - shared.data[apart])
    return csr_array((weights, (shared.row[apart], shared.col[apart])), shape=(count, count))


def spectrum(weights: Any, count: int, seed: int = 0) -> tuple[Floats, Floats]:
    """The (count,) largest eigenvalues of S, descending, and its (N, count) eigenvectors."""
    from scipy.sparse import dia_array
    from scipy.sparse.linalg import eigsh

    degrees = np.asarray(weights.sum(axis=1)).ravel()
    scale = np.where(degrees > 0, 1.0 / np.sqrt(np.where(degrees > 0, degrees, 1.0)), 0.0)
    scaling = dia_array((scale[None], [0]), shape=weights.shape)
    start = np.random.default_rng(seed).standard_normal(len(scale))
    values, rows = eigsh(scaling @ weights @ scaling, k=min(count, len(scale) - 1), which="LA", v0=start)
    order = np.argsort(-values, kind="stable")
    return values[order], rows[:, order]


def _best_cut(vectors: Vectors, gaps: Floats, rows: Floats, seed: int) -> Places:
    """(N,) groups for the number of them with the highest product of gap and silhouette; one if nothing stands out."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    best, chosen = 0.0, np.zeros(len(vectors), dtype=np.int64)
    for place in np.argsort(-gaps, kind="stable")[:TRIED]:
        count = int(place) + 2
        labels = KMeans(count, n_init=10, random_state=seed).fit_predict(unit_rows(rows[:, :count])).astype(np.int64)
        silhouette = float(silhouette_score(vectors, labels, metric="cosine"))
        if silhouette >= LEAST_SILHOUETTE and gaps[place] * silhouette > best:
            best, chosen = float(gaps[place] * silhouette), labels
    return chosen


def _finished(vectors: Vectors, labels: Places) -> Grouping:
    """Drop groups that are too small, unless there is one only, and number the others by their size."""
    sizes = np.bincount(labels[labels >= 0], minlength=1)
    kept = np.flatnonzero(sizes >= (LEAST_TEXTS if len(sizes) > 1 else 1))
    kept = kept[np.argsort(-sizes[kept], kind="stable")]
    numbers = np.full(len(sizes) + 1, NOISE)
    numbers[kept] = np.arange(len(kept))
    final = numbers[labels]
    centres = np.array([vectors[final == group].mean(axis=0) for group in range(len(kept))], dtype=np.float32)
    centres = unit_rows(centres.reshape(len(kept), vectors.shape[1]))
    reaches = [float(np.quantile(vectors[final == group] @ centres[group], 0.05)) for group in range(len(kept))]
    return Grouping(final, centres, np.array(reaches))
