r"""Masked entropy regularization (MER).

.. math::
    L_{MER}(\hat x) = D_{KL}(U(y) \,\Vert\, f_{doc}(\hat x)) = -\log C - \frac{1}{C} \sum_c \log f_{doc}(\hat x)_c

Section "Regularization via Keyword Masking" of the paper. U is uniform over the C classes.

Deviation for a 1-vs-rest head: its C sigmoids do not form a distribution over classes, and the paper does not say which
distribution it uses. Here f_doc(x^) is the softmax of the C logits for both heads, so the loss is 0 exactly when all
logits are equal and means the same for both.
"""

from __future__ import annotations

import math

import torch


def entropy_loss(context_doc_logits: torch.Tensor) -> torch.Tensor:
    """(B,) divergences L_MER of the (B, C) outputs of f_doc for x^; 0 where the logits are all equal."""
    log_probabilities = context_doc_logits.float().log_softmax(dim=1)  # (B, C)
    return -math.log(context_doc_logits.shape[1]) - log_probabilities.mean(dim=1)
