"""The space in which texts are compared: directions of their features, seen from the middle of the known classes.

Features of a trained encoder share a large common part, which says nothing of a text; what is left of it after the mean
is taken off is compared by its direction. The last layer knows what the classes turn on, the middle layers what
training has not changed; each kind has an equal share. Groups are found by those kinds that tell the known classes
apart: of a command the middle layers know what it is about, of a long mail rather its form. Whether two texts say the
same is asked of all kinds, as the last layer puts whole classes side by side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from masker.detection.statistics import Statistics
from masker.errors import ConfigError
from masker.inference.outputs import Outputs
from masker.model import Model
from masker.registry import METHODS

Vectors = npt.NDArray[np.float32]

#: The last layer.
_LAST = "cls"
#: A kind of features tells if the nearest known text is of a text's class in this share of the cases in which it is so
#: by the last layer.
LEAST_TELLING = 0.85
#: Known texts that this is measured with, at most.
_MEASURED = 2000


@dataclass(frozen=True)
class TextSpace:
    """The kinds of features that a model keeps.

    Attributes:
        middles: (H,) the middle of each kind.
        telling: The kinds that groups are found by; ``None`` is all of them.
    """

    middles: dict[str, npt.NDArray[np.float64]]
    telling: tuple[str, ...] | None = None

    @classmethod
    def of(cls, model: Model) -> TextSpace:
        """The space of a model: of the kinds that it keeps statistics of.

        Raises:
            ConfigError: When the model has no features to compare texts by.
        """
        statistics = model.require_detector("comparing texts").basis.statistics
        if statistics is not None:
            middles = {kind: moments.mean for kind, moments in statistics.moments.items()}
            return cls(middles, telling_kinds(statistics))
        if not METHODS.get(model.settings.training.method).fine_tuned:
            raise ConfigError(
                f"method {model.settings.training.method} keeps no features to compare texts by; "
                "train with another --method, such as masker"
            )
        return cls({"cls": np.zeros(1)})

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(self.middles)

    def vectors(self, outputs: Outputs) -> Vectors:
        """(N, H) vectors of length 1 of N documents; the cosine of two texts is the product of their vectors."""
        return self.join({kind: outputs.features[kind] for kind in self.kinds})

    def join(self, features: dict[str, npt.NDArray[np.floating]]) -> Vectors:
        """The vectors of (N, H) features by kind."""
        parts = []
        for kind, middle in self.middles.items():
            apart = np.asarray(features[kind], dtype=np.float64) - middle
            parts.append(apart / np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-12))
        return np.asarray(np.hstack(parts) / np.sqrt(len(parts)), dtype=np.float32)

    def telling_part(self, vectors: Vectors) -> Vectors:
        """(N, H') the part of such vectors that groups are found by, of length 1 again."""
        if self.telling is None or len(self.telling) == len(self.middles):
            return vectors
        ends = np.cumsum([len(middle) for middle in self.middles.values()])
        columns = [
            np.arange(end - len(middle), end)
            for (kind, middle), end in zip(self.middles.items(), ends, strict=True)
            if kind in self.telling
        ]
        scale = np.sqrt(len(self.middles) / len(self.telling))
        return np.asarray(vectors[:, np.concatenate(columns)] * scale, dtype=np.float32)


def telling_kinds(statistics: Statistics) -> tuple[str, ...]:
    """The last layer, and the kinds of features that are nearly as good at telling known classes apart."""
    kinds = tuple(statistics.moments)
    if _LAST not in kinds or len(kinds) == 1:
        return kinds
    rows = np.random.default_rng(0).permutation(len(statistics.bank_labels))[:_MEASURED]
    labels = statistics.bank_labels[rows]
    shares = {
        kind: neighbour_share(statistics.bank[kind][rows] - statistics.moments[kind].mean, labels) for kind in kinds
    }
    return tuple(kind for kind in kinds if shares[kind] >= LEAST_TELLING * shares[_LAST])


def neighbour_share(vectors: npt.NDArray[np.floating], labels: npt.NDArray[np.int64]) -> float:
    """The share of (N, H) vectors whose nearest other vector, by cosine, has the same of (N,) labels."""
    if len(vectors) < 2:
        return 1.0
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    similar = unit @ unit.T
    np.fill_diagonal(similar, -np.inf)
    return float((labels[similar.argmax(axis=1)] == labels).mean())
