"""What every out-of-distribution score has in common: outputs of a network in, one number for each document out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from masker.config import Settings
from masker.inference.outputs import Outputs

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


class Score(ABC):
    """A score, ready to be applied.

    Attributes:
        name: What ``masker.json`` and ``--score`` call it.
        features: The kinds of features it reads beside the logits.
        published_threshold: The score above which its authors reject a document; ``None`` without such a rule.
    """

    name: str
    features: tuple[str, ...] = ()
    published_threshold: ClassVar[float | None] = None

    @abstractmethod
    def ood_score(self, outputs: Outputs) -> Floats:
        """(N,) scores, higher = more out-of-distribution."""


class LearntScore(Score):
    """The score of a comparison system, which learns statistics of its own from all training documents."""

    @classmethod
    @abstractmethod
    def fit(cls, outputs: Outputs, labels: Labels, settings: Settings) -> LearntScore:
        """Learn the statistics.

        Args:
            outputs: Those of the training documents.
            labels: (N,) their classes.
            settings: All settings.
        """

    @classmethod
    @abstractmethod
    def from_statistics(cls, statistics: dict[str, npt.NDArray[Any]], settings: Settings) -> LearntScore:
        """Rebuild a score from what :meth:`statistics` gave."""

    @abstractmethod
    def statistics(self) -> dict[str, npt.NDArray[Any]]:
        """Everything learnt, as plain arrays for ``masker.safetensors``."""
