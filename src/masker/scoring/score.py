"""What every out-of-distribution score has in common: outputs of a network in, one number for each document out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from masker.config import Settings
from masker.modeling.scorer import Outputs

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


class Score(ABC):
    """A score, with the statistics of the training documents that it needs.

    Attributes:
        name: What ``masker.json`` calls it.
        reads_features: Whether it needs features beside the logits.
        learns: Whether it has statistics to learn from the outputs of the training documents.
        published_threshold: The score above which its authors reject a document; ``None`` without such a rule.
    """

    name: ClassVar[str]
    reads_features: ClassVar[bool] = False
    learns: ClassVar[bool] = False
    published_threshold: ClassVar[float | None] = None

    @abstractmethod
    def ood_score(self, outputs: Outputs) -> Floats:
        """(N,) scores, higher = more out-of-distribution."""

    @classmethod
    @abstractmethod
    def fit(cls, outputs: Outputs | None, labels: Labels, settings: Settings) -> Score:
        """Learn the statistics.

        Args:
            outputs: Those of the training documents; ``None`` for a score that learns nothing.
            labels: (N,) their classes.
            settings: All settings.
        """

    @classmethod
    @abstractmethod
    def from_statistics(cls, statistics: dict[str, npt.NDArray[Any]], settings: Settings) -> Score:
        """Rebuild a score from what :meth:`statistics` gave."""

    def statistics(self) -> dict[str, npt.NDArray[Any]]:
        """Everything learnt, as plain arrays for ``masker.safetensors``."""
        return {}
