r"""Masked entropy regularization for a head that can reject every class.

.. math::
    L(\hat x) = -\sum_c \log (1 - \sigma(z_c(\hat x)))

The 1-vs-rest classification loss with every target 0. Not in the paper: its KL divergence makes the logits equal at any
level, so a head that is equally sure of all classes satisfies it and rejects nothing.
"""

from __future__ import annotations

import torch
from torch.nn import functional


def no_class_loss(context_doc_logits: torch.Tensor) -> torch.Tensor:
    """(B,) losses of the (B, C) 1-vs-rest outputs of f_doc for x^; near 0 where every class rejects."""
    return functional.softplus(context_doc_logits.float()).sum(dim=1)
