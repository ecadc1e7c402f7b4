"""The space in which texts are compared: directions of their features, seen from the middle of the known classes.

Features of a trained encoder share a large common part, which says nothing of a text; what is left of it after the mean
is taken off is compared by its direction. The last layer knows what the classes turn on, the middle layers what
training has not changed; each kind has an equal share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from masker.errors import ConfigError
from masker.inference.outputs import Outputs
from masker.model import Model
from masker.registry import METHODS

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class TextSpace:
    """The kinds of features that count, and the (H,) middle of each."""

    middles: dict[str, npt.NDArray[np.float64]]

    @classmethod
    def of(cls, model: Model) -> TextSpace:
        """The space of a model: of all kinds that it keeps statistics of, around their means.

        Raises:
            ConfigError: When the model has no features to compare texts by.
        """
        statistics = model.require_detector("comparing texts").basis.statistics
        if statistics is not None:
            return cls({kind: moments.mean for kind, moments in statistics.moments.items()})
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
