r"""Online conformal p-values: the rank of a score among those of the calibration and of all texts since.

.. math::
    p_t = \frac{\#\{i < t : s_i > s_t\} + u_t}{t}, \qquad u_t \sim U(0, 1)

:math:`s_1, \dots, s_n` are the calibration scores, and text t joins them when it has its p-value. Small means strange.
If all scores are exchangeable (the order tells nothing), then :math:`p_{n+1}, p_{n+2}, \dots` are independent and
uniform, exactly and for every n (Vovk, Gammerman and Shafer 2005, Theorem 8.2). P-values among the calibration scores
alone are not: given the one calibration set there is, their distribution is off by about :math:`1/\sqrt{n}`, and a test
that looks long enough finds that out.

**Bounded memory.** Once N scores are kept, they are the bounds of N + 1 gaps, and later ones are only counted in their
gap. With :math:`c_j` scores counted in gap j so far, m in all, and the new one in gap k:

.. math::
    p_t = \frac{\sum_{j > k} (1 + c_j) + u_t (1 + c_k)}{N + 1 + m}

The probabilities of the gaps have a uniform Dirichlet distribution whatever the scores' own, so
:math:`(1 + c_k) / (N + 1 + m)` is the exact chance of gap k given the counts (a Pólya urn), and these p-values are
independent and uniform, too. Nothing is forgotten, only rounded to gaps.

**Ties** are broken by noise of a billionth of the score, drawn for calibration and stream alike, which leaves
exchangeable scores exchangeable.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from masker.monitoring.packed_arrays import pack_array, unpack_array

Floats = npt.NDArray[np.float64]

_NOISE = 1e-9


class Exceedance(NamedTuple):
    """A score, and the Beta(above, below) distribution of the share of texts that exceed it, if nothing changes."""

    score: float
    above: float
    below: float


class ScoreMemory:
    """All scores seen, the first ``capacity`` exactly and the others by the gap between these they fall into."""

    def __init__(self, capacity: int, seed: tuple[int, ...]) -> None:
        self.capacity = capacity
        self.kept: Floats = np.empty(0)  # (N,) ascending
        self.counts = np.zeros(1, dtype=np.int64)  # (N + 1,) further scores in each gap
        self._draw = np.random.default_rng(seed)

    @property
    def size(self) -> int:
        """Number of scores seen."""
        return len(self.kept) + int(self.counts.sum())

    def remember(self, scores: Floats) -> None:
        """Start with the scores of a calibration, without p-values; which of too many are kept in full is drawn."""
        scores = _noisy(scores, self._draw.random(len(scores)))[self._draw.permutation(len(scores))]
        room = self.capacity - len(self.kept)
        self.kept = np.sort(np.concatenate([self.kept, scores[:room]]))
        gaps = np.searchsorted(self.kept, scores[room:], side="right")
        self.counts = np.bincount(gaps, minlength=len(self.kept) + 1)

    def rank(self, scores: Floats) -> tuple[Floats, Floats]:
        """(b,) scores without ties and (b,) p-values of scores in the order of their arrival, which it then remembers.

        However a stream is cut into batches, the values are the same. Time grows with the square of b.
        """
        noise, uniform = self._draw.random((len(scores), 2)).T
        scores = _noisy(scores, noise)
        room = self.capacity - len(self.kept)
        grown = self._keep(scores[:room], uniform[:room])
        return scores, np.concatenate([grown, self._count(scores[room:], uniform[room:])])

    def _keep(self, scores: Floats, uniform: Floats) -> Floats:
        if not len(scores):
            return scores
        places = np.searchsorted(self.kept, scores, side="right")
        above = len(self.kept) - places + _earlier(scores, np.greater)
        values = (above + uniform) / (len(self.kept) + 1 + np.arange(len(scores)))
        self.kept = np.sort(np.concatenate([self.kept, scores]), kind="stable")
        self.counts = np.zeros(len(self.kept) + 1, dtype=np.int64)
        return np.asarray(values)

    def _count(self, scores: Floats, uniform: Floats) -> Floats:
        if not len(scores):
            return scores
        gaps = np.searchsorted(self.kept, scores, side="right")
        above = self._mass_above()[gaps] + _earlier(gaps, np.greater)
        own = 1 + self.counts[gaps] + _earlier(gaps, np.equal)
        total = self.size + 1 + np.arange(len(scores))
        np.add.at(self.counts, gaps, 1)
        return np.asarray((above + uniform * own) / total)

    def _mass_above(self) -> npt.NDArray[np.int64]:
        """(N + 1,) mass 1 + c of all gaps above each gap."""
        mass = 1 + self.counts
        return np.asarray(mass[::-1].cumsum()[::-1] - mass)

    def exceedances(self, levels: tuple[float, ...]) -> list[Exceedance]:
        """For each level, the kept score that about this share of all scores exceeds; none if nothing is kept."""
        if not len(self.kept):
            return []
        above = self._mass_above()[:-1]  # (N,) mass above each kept score
        total = self.size + 1
        wanted = np.maximum(1.0, np.round(np.array(levels) * total))
        # ``above`` descends, and its last entry is at least 1.
        places = len(above) - np.searchsorted(above[::-1], wanted, side="right")
        places = np.minimum(places, len(above) - 1)
        return [
            Exceedance(float(self.kept[place]), float(above[place]), float(total - above[place])) for place in places
        ]

    def to_json(self) -> dict[str, Any]:
        """Everything that :meth:`from_json` needs to go on."""
        return {
            "capacity": self.capacity,
            "kept": pack_array(self.kept),
            "counts": pack_array(self.counts),
            "draw": self._draw.bit_generator.state,
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> ScoreMemory:
        """The inverse of :meth:`to_json`."""
        memory = cls(int(content["capacity"]), ())
        memory.kept, memory.counts = unpack_array(content["kept"]), unpack_array(content["counts"])
        if len(memory.counts) != len(memory.kept) + 1:
            raise ValueError(f"{len(memory.kept)} kept scores do not go with {len(memory.counts)} counts")
        memory._draw.bit_generator.state = content["draw"]
        return memory


def _noisy(scores: Floats, uniform: Floats) -> Floats:
    return np.asarray(scores + (uniform - 0.5) * _NOISE * (np.abs(scores) + _NOISE))


def _earlier(values: npt.NDArray[Any], relation: np.ufunc) -> npt.NDArray[np.int64]:
    """(b,) how many earlier entries of a batch are greater than each entry, or equal to it."""
    return np.asarray((relation(values[None, :], values[:, None]) & _before(len(values))).sum(axis=1))


@lru_cache(maxsize=128)
def _before(count: int) -> npt.NDArray[np.bool_]:
    """(count, count) whether the entry of a column comes before that of the row."""
    return np.tri(count, k=-1, dtype=bool)
