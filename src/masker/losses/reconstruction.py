r"""Masked keyword reconstruction (MKR).

.. math::
    L_{MKR}(\tilde x, v) = \sum_{i \in index(\tilde k)} L_{CE}(f_{tok}(\tilde x)_i, v_i)

Section "Regularization via Keyword Masking" of the paper. The sum runs over the masked positions of one document; a
document without a masked keyword contributes 0.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch.nn import functional


def reconstruction_loss(
    token_logits: torch.Tensor,
    keyword_labels: torch.Tensor,
    document_of_position: torch.Tensor,
    n_documents: int,
    reduction: Literal["sum", "mean"] = "sum",
) -> torch.Tensor:
    """(B,) losses L_MKR, 0 for documents without a masked keyword (never NaN).

    Args:
        token_logits: (M, K) outputs of f_tok at the M masked positions of the batch only.
        keyword_labels: (M,) index v_i of the masked keyword among the K targets.
        document_of_position: (M,) document of each masked position.
        n_documents: B.
        reduction: ``sum`` over a document's masked positions, as in the paper, or ``mean``.
    """
    losses = functional.cross_entropy(token_logits.float(), keyword_labels, reduction="none")  # (M,)
    total = losses.new_zeros(n_documents).index_add(0, document_of_position, losses)
    if reduction == "sum":
        return total
    return total / torch.bincount(document_of_position, minlength=n_documents).clamp_min(1)
