r"""Attention-based keyword scores (Eq. 2 of the paper).

.. math::
    s^{attn}(t) = \sum_{(x, y) \in D} \frac{1}{n_{t,x}} \sum_{i=1}^{T} 1(t_i = t) \cdot \frac{a_i}{\lVert a \rVert}

a_i is the last layer's attention from the document token to token i, averaged over heads; the norm is l2. The sum runs
over content tokens only: special and padding tokens are not part of x and enter neither the norm nor the scores.
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
    """The summand of Eq. 2 for each (document, distinct token) pair of one batch.

    Args:
        token_ids: (B, T) vocabulary ids.
        attention: (B, T) attention from the document token to each position, averaged over heads.
        content: (B, T) true at content tokens, false at special and padding tokens.

    Returns:
        Three (P,) tensors over the P distinct (document, token) pairs: batch row, token id, score.
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
    """Accumulates Eq. 2 over batches, per class, which serves both class-agnostic and class-balanced selection."""

    def __init__(self, n_classes: int, vocabulary_size: int) -> None:
        self._by_class = torch.zeros(n_classes, vocabulary_size, dtype=torch.float64)
        self._seen = torch.zeros(n_classes, vocabulary_size, dtype=torch.bool)

    def update(
        self, token_ids: torch.Tensor, attention: torch.Tensor, content: torch.Tensor, labels: torch.Tensor
    ) -> None:
        """Add one batch: (B, T), (B, T), (B, T) and the (B,) class indices, on any device."""
        # Summed on the CPU: not every accelerator has double precision.
        rows, tokens, scores = document_token_scores(token_ids.cpu(), attention.cpu(), content.cpu())
        flat = labels.cpu()[rows] * self._by_class.shape[1] + tokens
        self._by_class.view(-1).index_add_(0, flat, scores)
        self._seen.view(-1)[flat] = True

    def add_up(self, total: Callable[[torch.Tensor], torch.Tensor]) -> None:
        """Combine the sums of all processes; ``total`` is the all-reduce that sums a tensor over them."""
        self._by_class = total(self._by_class)
        self._seen = total(self._seen.int()) > 0

    def class_attention_scores(self) -> npt.NDArray[np.float64]:
        """(C, V) sums over the documents of each class; −inf for tokens absent from the class."""
        return self._by_class.masked_fill(~self._seen, -torch.inf).numpy()

    def attention_scores(self) -> npt.NDArray[np.float64]:
        """Eq. 2: (V,) sums over all documents; −inf for tokens absent from the corpus."""
        return self._by_class.sum(dim=0).masked_fill(~self._seen.any(dim=0), -torch.inf).numpy()


class AttentionScheme(KeywordScheme):
    """Eq. 2: tokens that the document token attends to."""

    name = "attention"
    reads_attention = True

    def class_scores(self, evidence: Evidence) -> npt.NDArray[np.float64]:
        return evidence.attention.class_attention_scores()

    def scores(self, evidence: Evidence) -> npt.NDArray[np.float64]:
        return evidence.attention.attention_scores()
