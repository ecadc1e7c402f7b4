r"""Attention-based keyword scores (Eq. 2 of the paper).

.. math::
    s^{attn}(t) = \sum_{(x, y) \in D} \frac{1}{n_{t,x}} \sum_{i=1}^{T} 1(t_i = t) \cdot \frac{a_i}{\lVert a \rVert}

a_i is the attention that the document token pays to token i in the last layer, averaged over heads; the norm is l2.
Tokens of the document are its content: special and padding tokens are no part of x, so they enter neither the norm
nor the scores.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch

from masker.keywords.scheme import Evidence, KeywordScheme


def document_token_scores(
    token_ids: torch.Tensor, attention: torch.Tensor, content: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The summand of Eq. 2 for each (document, distinct token) of one batch.

    Args:
        token_ids: (B, T) vocabulary ids.
        attention: (B, T) attention of the document token to each position, averaged over heads.
        content: (B, T) true where the position is a token of the document, false at special and padding tokens.

    Returns:
        Three (P,) tensors over the P distinct (document, token) pairs: row in the batch, token id, score.
    """
    weights = attention.double() * content
    norm = weights.norm(dim=1, keepdim=True)  # (B, 1)
    weights = weights / norm.clamp_min(torch.finfo(torch.float64).tiny)
    rows, columns = content.nonzero(as_tuple=True)
    vocabulary = int(token_ids.max()) + 1
    keys, inverse, occurrences = torch.unique(
        rows * vocabulary + token_ids[rows, columns], return_inverse=True, return_counts=True
    )
    sums = torch.zeros(len(keys), dtype=torch.float64).index_add_(0, inverse, weights[rows, columns])
    return keys // vocabulary, keys % vocabulary, sums / occurrences


class AttentionScores:
    """Accumulates Eq. 2 over batches, for each class apart, so that both ways of selection can be read off."""

    def __init__(self, n_classes: int, vocabulary_size: int) -> None:
        self._by_class = torch.zeros(n_classes, vocabulary_size, dtype=torch.float64)
        self._seen = torch.zeros(n_classes, vocabulary_size, dtype=torch.bool)

    def update(
        self, token_ids: torch.Tensor, attention: torch.Tensor, content: torch.Tensor, labels: torch.Tensor
    ) -> None:
        """Add one batch: (B, T), (B, T), (B, T) and the (B,) class indices."""
        rows, tokens, scores = document_token_scores(token_ids, attention, content)
        flat = labels[rows] * self._by_class.shape[1] + tokens
        self._by_class.view(-1).index_add_(0, flat, scores)
        self._seen.view(-1)[flat] = True

    def add_up(self, total: Callable[[torch.Tensor], torch.Tensor]) -> None:
        """Take in what other processes accumulated over their documents; ``total`` sums a tensor over processes."""
        self._by_class = total(self._by_class)
        self._seen = total(self._seen.int()) > 0

    def class_attention_scores(self) -> npt.NDArray[np.float64]:
        """(C, V) sums over the documents of each class; −inf for tokens that the class does not have."""
        return self._by_class.masked_fill(~self._seen, -torch.inf).numpy()

    def attention_scores(self) -> npt.NDArray[np.float64]:
        """Eq. 2: the (V,) sum over all documents."""
        return self._by_class.sum(dim=0).masked_fill(~self._seen.any(dim=0), -torch.inf).numpy()


class AttentionScheme(KeywordScheme):
    """Eq. 2."""

    name = "attention"
    reads_attention = True

    def class_scores(self, evidence: Evidence) -> npt.NDArray[np.float64]:
        return evidence.attention.class_attention_scores()

    def scores(self, evidence: Evidence) -> npt.NDArray[np.float64]:
        return evidence.attention.attention_scores()


ATTENTION = AttentionScheme()
