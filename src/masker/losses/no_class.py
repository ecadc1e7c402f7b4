r"""Masked entropy regularization for a head that can say "none of them".

.. math::
    L(\hat x) = -\sum_c \log (1 - \sigma(z_c(\hat x)))

The 1-vs-rest classification loss with every target 0. Not in the paper, whose KL divergence makes the logits equal and
leaves open at which height: a head that is equally sure of all classes satisfies it, and rejects nothing.
"""

from __future__ import annotations

import torch
from torch.nn import functional


def no_class_loss(context_doc_logits: torch.Tensor) -> torch.Tensor:
    """(B,) losses of (B, C) 1-vs-rest outputs of f_doc for the context-masked documents x^; near 0 if all reject."""
    return functional.softplus(context_doc_logits.float()).sum(dim=1)
