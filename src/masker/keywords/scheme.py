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

    Attributes:
        count_tokens: Counts the (C, V) occurrences of each token in the documents of each class.
        read_attention: Reads the attention of a trained model; ``None`` if there is no such model.
        seed: For schemes that draw at random.
    """

    count_tokens: Callable[[], Counts]
    read_attention: Callable[[], AttentionScores] | None = None
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
    """Scores tokens; the tokens with the highest scores become keywords.

    Attributes:
        name: The value of ``--keywords``.
        reads_attention: Whether it needs a fine-tuned classifier; training then starts with a vanilla stage.
        compares_classes: Whether it needs at least two classes.
        by_class: Whether its scores differ between classes, so that each class can have keywords of its own.
        whole_vocabulary: Whether f_tok predicts over the whole vocabulary instead of the keyword vocabulary.
    """

    name: str
    reads_attention: bool = False
    compares_classes: bool = False
    by_class: bool = True
    whole_vocabulary: bool = False

    @abstractmethod
    def class_scores(self, evidence: Evidence) -> Scores:
        """(C, V) scores of each token for each class; −inf for tokens absent from the class."""

    def scores(self, evidence: Evidence) -> Scores:
        """(V,) class-agnostic scores; by default a token's best class score."""
        return np.asarray(self.class_scores(evidence).max(axis=0))


def scheme_scores(scheme: KeywordScheme, evidence: Evidence, *, class_balanced: bool = False) -> Scores:
    """(V,) scores of a scheme, or (C, V) scores for class-balanced selection."""
    return np.asarray(scheme.class_scores(evidence) if class_balanced else scheme.scores(evidence))
