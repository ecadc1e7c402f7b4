"""Dropout with cheap random bits, for training on a CPU.

torch's ``bernoulli_`` draws one double per element on one core, about a fifth of a training step of a small encoder.
Here one 64-bit draw serves four elements: each 16-bit piece is compared with p. The draws come from torch's own
generator, so seeds and resumed runs work unchanged. p is exact to within 2^-17.

The functions are installed during training on a CPU only, and removed afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

_ATTENTION = "masker_fast_dropout"


def keep_mask(x: torch.Tensor, p: float) -> torch.Tensor:
    """A tensor like ``x`` that is 0 with probability ``p`` and 1 otherwise, independently for each element."""
    count = x.numel()
    bits = torch.empty((count + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    kept = torch.empty(x.shape, dtype=x.dtype)
    # Writing numbers and multiplying is several times faster than filling by a boolean mask.
    torch.ge(bits.view(torch.int16)[:count].view(x.shape), -(2**15) + round(p * 2**16), out=kept)
    return kept


class _Dropout(torch.autograd.Function):
    """0 where dropped and x / (1 − p) elsewhere, and the same for the gradient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, p: float) -> torch.Tensor:
        kept = keep_mask(x, p)
        ctx.save_for_backward(kept)
        ctx.scale = 1.0 / (1.0 - p)
        return (x * kept).mul_(ctx.scale)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        (kept,) = ctx.saved_tensors
        return (gradients[0] * kept).mul_(ctx.scale), None


def fast_dropout(x: torch.Tensor, p: float, training: bool = True) -> torch.Tensor:
    """Same contract as :func:`torch.nn.functional.dropout`."""
    if not training or p == 0.0:
        return x
    if p >= 1.0:
        return x * 0.0
    return _Dropout.apply(x, p)  # type: ignore[no-any-return, no-untyped-call]


def _module_forward(module: nn.Dropout, x: torch.Tensor) -> torch.Tensor:
    return fast_dropout(x, module.p, module.training)


def _attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """An attention function for transformers; without dropout it calls torch's fused kernel, which is faster."""
    if dropout == 0.0 or not module.training:
        from transformers.integrations.sdpa_attention import sdpa_attention_forward

        output, _ = sdpa_attention_forward(
            module, query, key, value, attention_mask, scaling=scaling, dropout=dropout, **kwargs
        )
        return output, None
    scores = (query * (scaling or query.shape[-1] ** -0.5)) @ key.transpose(2, 3)  # (B, heads, T, T)
    if attention_mask is not None:
        if attention_mask.dtype == torch.bool:
            # Adding is cheaper than filling and needs nothing in the backward pass.
            hidden = torch.zeros(attention_mask.shape, dtype=scores.dtype)
            attention_mask = hidden.masked_fill_(~attention_mask, torch.finfo(scores.dtype).min)
        scores = scores + attention_mask
    # Autocast would copy these largest tensors to float32 and back; the kernel accumulates in float32 anyway.
    with torch.autocast(scores.device.type, enabled=False):
        weights = scores.softmax(dim=-1)
    weights = fast_dropout(weights.to(value.dtype), dropout)
    return (weights @ value).transpose(1, 2).contiguous(), None


@contextmanager
def fast_dropout_in(classifier: Any) -> Iterator[None]:
    """Inside the context ``classifier`` draws its dropout masks cheaply; on an accelerator nothing changes."""
    if classifier.device.type != "cpu":
        yield
        return
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(_ATTENTION, _attention)
    AttentionMaskInterface.register(_ATTENTION, sdpa_mask)
    modules = [module for module in classifier.modules() if type(module) is nn.Dropout]
    before = classifier.config._attn_implementation
    for module in modules:
        module.forward = _module_forward.__get__(module)  # type: ignore[method-assign]
    if before == "sdpa":
        classifier.set_attn_implementation(_ATTENTION)
    try:
        yield
    finally:
        for module in modules:
            del module.forward
        if before == "sdpa":
            classifier.set_attn_implementation(before)
