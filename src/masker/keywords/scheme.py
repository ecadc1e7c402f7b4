"""The interface of keyword schemes: evidence about a corpus in, one score per token out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from masker.errors import ConfigError

if TYPE_CHECKING:
    from masker.keywords.attention import AttentionScores

Scores = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Evidence:
    """What a scheme may look at. Both properties are computed on first use, once.

    "Tokens" are whatever the caller counts: the tokenizer's tokens in training, whole words in an audit.
    """

    count_tokens: Callable[[], Counts]
    read_attention: Callable[[], AttentionScores] | None = None  # ``None``: there is no trained model to read
    seed: int = 0

    @cached_property
    def counts(self) -> Counts:
        """(C, V) occurrences of each token in each class."""
        return self.count_tokens()

    @cached_property
    def attention(self) -> AttentionScores:
        """The accumulated sums of Eq. 2."""
        if self.read_attention is None:
            raise ConfigError("attention keywords need a fine-tuned encoder to read; use --keywords frequency")
        return self.read_attention()


class KeywordScheme(ABC):
    """Scores tokens; the tokens with the highest scores become keywords."""

    name: str  # the value of ``--keywords``
    reads_attention: bool = False  # needs a fine-tuned classifier: training starts with a vanilla stage
    compares_classes: bool = False  # needs at least two classes
    by_class: bool = True  # scores differ between classes, so that each class can have keywords of its own
    whole_vocabulary: bool = False  # f_tok predicts over the whole vocabulary instead of the keyword vocabulary

    @abstractmethod
    def class_scores(self, evidence: Evidence) -> Scores:
        """(C, V) scores of each token for each class; −inf for tokens absent from the class."""

    def scores(self, evidence: Evidence) -> Scores:
        """(V,) class-agnostic scores; by default a token's best class score."""
        return np.asarray(self.class_scores(evidence).max(axis=0))


def scheme_scores(scheme: KeywordScheme, evidence: Evidence, *, class_balanced: bool = False) -> Scores:
    """(V,) scores of a scheme, or (C, V) scores for class-balanced selection."""
    return np.asarray(scheme.class_scores(evidence) if class_balanced else scheme.scores(evidence))
