r"""Attention made uniform: a negative result in the paper's appendix "Additional Experimental Results".

.. math::
    L_{attn}(x) = D_{KL}(\mathcal{U} \,\|\, \mathbf{a}) = -\frac{1}{T} \sum_{i=1}^{T} \log (T a_i)

:math:`\mathbf{a}` is the attention of the document embedding to the T content tokens of x, as in Eq. 2: last layer,
mean over heads. The paper reports that regularizing attention weights "to be uniform directly" harms accuracy and
detection of vanilla models; it gives neither equation nor weight. We take the divergence that MER uses, and scale the
weights to sum to 1 over the content tokens: what goes to special tokens is left free.
"""

from __future__ import annotations

import torch


def uniform_attention_loss(attention: torch.Tensor, content: torch.Tensor) -> torch.Tensor:
    """(B,) losses L_attn of (B, T) attention weights; 0 for a document without content (never NaN).

    ``content`` is (B, T), false at special and padding tokens.
    """
    count = content.sum(dim=1)  # (B,)
    inside = attention.float().masked_fill(~content, 0.0)
    share = inside / inside.sum(dim=1, keepdim=True).clamp_min(torch.finfo(torch.float32).tiny)
    # A weight that has underflowed costs much, not infinitely much.
    logs = (share * count.unsqueeze(1)).clamp_min(torch.finfo(torch.float32).tiny).log().masked_fill(~content, 0.0)
    return -logs.sum(dim=1) / count.clamp_min(1)
