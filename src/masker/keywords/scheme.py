"""What every keyword scheme has in common: evidence about a corpus in, one score for each token out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from masker.errors import ConfigError

if TYPE_CHECKING:
    from masker.keywords.attention import AttentionScores

Scores = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Evidence:
    """What a scheme may look at. Tokens may be the tokenizer's, or words: a scheme does not care.

    Attributes:
        count_tokens: Counts the (C, V) occurrences of each token in the documents of each class.
        read_attention: Reads the attention of a trained model; ``None`` where there is no such model.
        seed: For schemes that draw.
    """

    count_tokens: Callable[[], Counts]
    read_attention: Callable[[], AttentionScores] | None = None
    seed: int = 0

    @cached_property
    def counts(self) -> Counts:
        """(C, V) occurrences, counted when first asked for."""
        return self.count_tokens()

    @cached_property
    def attention(self) -> AttentionScores:
        """The accumulated sums of Eq. 2, read when first asked for.

        Raises:
            ConfigError: When no model was given whose attention could be read.
        """
        if self.read_attention is None:
            raise ConfigError("attention keywords need a fine-tuned encoder to read; use --keywords frequency")
        return self.read_attention()


class KeywordScheme(ABC):
    """Scores tokens; those with the highest scores become keywords.

    Attributes:
        name: What ``--keywords`` calls it.
        reads_attention: Whether it needs a fine-tuned classifier, which a vanilla stage then trains first.
        compares_classes: Whether it needs two classes or more.
        by_class: Whether it tells classes apart, so that each class can have its own keywords.
        whole_vocabulary: Whether f_tok chooses from the whole vocabulary instead of from the keywords.
    """

    name: str
    reads_attention: bool = False
    compares_classes: bool = False
    by_class: bool = True
    whole_vocabulary: bool = False

    @abstractmethod
    def class_scores(self, evidence: Evidence) -> Scores:
        """(C, V) scores of each token for each class; −inf for tokens that a class does not have."""

    def scores(self, evidence: Evidence) -> Scores:
        """(V,) scores over all classes; the best of a token's class scores, unless a scheme says otherwise."""
        return np.asarray(self.class_scores(evidence).max(axis=0))


def scheme_scores(scheme: Any, evidence: Evidence, *, class_balanced: bool = False) -> Scores:
    """(V,) scores of a scheme, or (C, V) for class-balanced selection."""
    return np.asarray(scheme.class_scores(evidence) if class_balanced else scheme.scores(evidence))
