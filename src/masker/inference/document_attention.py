"""Attention of the document token in the last layer, read off while the encoder runs on its fast kernel.

Asking transformers for ``output_attentions`` makes every layer compute and keep a (B, heads, T, T) matrix by the slow
kernel. Eq. 2 needs one row of the last one. So we register an attention function that calls the fast kernel for the
layer's output and computes only the document token's row beside it; layers overwrite each other, the last one stays.
Nothing behind the last attention is needed, so the pass is left there. Where attention is regularized, the pass goes on
to its end, and the row has a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch

from masker.errors import ModelError
from masker.modeling.pooling import MEAN, encoder_layers, pooling_of, seen_tokens

_NAME = "masker_document_attention"


class _LastLayerSeen(Exception):  # noqa: N818 - no error, a way out of the forward pass
    """The last layer's attention is known."""


class DocumentAttention:
    """Holds what the last layer of the last forward pass paid attention to.

    Args:
        layers: How many layers call :meth:`attention` in one pass: the last call leaves the pass. 0 where unknown.
        pooled: Whether the document is the mean of its tokens. Then its attention is the mean of theirs.
        kernel: The attention function of a pass that goes on to its end; ``None`` leaves it at the last layer.
    """

    def __init__(self, layers: int = 0, *, pooled: bool = False, kernel: Callable[..., Any] | None = None) -> None:
        self._kernel = kernel
        self._row: torch.Tensor | None = None
        self._pooled = pooled
        self._layers = layers
        self._calls = 0

    def attention(
        self,
        module: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attention_mask: torch.Tensor | None,
        **kwargs: Any,
    ) -> tuple[torch.Tensor, None]:
        """Attention function in the form transformers expects; (B, heads, T, d) queries, keys and values."""
        from transformers.integrations.sdpa_attention import sdpa_attention_forward

        scaling = kwargs.get("scaling") or query.shape[-1] ** -0.5
        # Where a pass goes on to its end, another may follow before this one's row is taken.
        self._calls = 1 if self._kernel is not None and self._calls == self._layers else self._calls + 1
        last = self._calls == self._layers
        if last or not (self._pooled or self._kernel):
            queries = query if self._pooled else query[:, :, :1]
            with torch.autocast(query.device.type, enabled=False):
                scores = (queries.float() @ key.float().transpose(2, 3)) * scaling  # (B, heads, T or 1, T)
            if attention_mask is not None:
                first = attention_mask[:, :, :1, : key.shape[2]]
                hidden = float("-inf")
                scores = scores.masked_fill(~first, hidden) if first.dtype == torch.bool else scores + first.float()
            self._row = _document_row(scores.softmax(dim=-1).mean(dim=1), attention_mask)
        if last and self._kernel is None:
            raise _LastLayerSeen
        kernel = self._kernel or sdpa_attention_forward
        output, _ = kernel(module, query, key, value, attention_mask, **kwargs)
        return output, None

    def take(self) -> torch.Tensor | None:
        """(B, T) attention of the first token averaged over heads, once; ``None`` when no layer called us."""
        row, self._row, self._calls = self._row, None, 0
        return row


def _document_row(attention: torch.Tensor, attention_mask: torch.Tensor | None) -> torch.Tensor:
    """(B, T) mean over the queries that are tokens, of (B, T or 1, T) attention."""
    if attention.shape[1] == 1:
        return attention[:, 0]
    if attention_mask is None:
        return attention.mean(dim=1)
    seen = seen_tokens(attention_mask).to(attention.dtype).unsqueeze(1)  # (B, 1, T)
    return ((seen @ attention) / seen.sum(dim=2, keepdim=True))[:, 0]


@contextmanager
def document_attention(classifier: Any, *, to_the_end: bool = False) -> Iterator[DocumentAttention]:
    """While inside, every forward pass of ``classifier`` leaves its document attention in the yielded object.

    ``to_the_end`` is for training: the pass gives logits, too, and computes them as it would outside.
    """
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import sdpa_mask

    config = classifier.config
    layers = encoder_layers(config)
    kernel = AttentionInterface().get(config._attn_implementation, sdpa_attention_forward) if to_the_end else None
    capture = DocumentAttention(layers, pooled=pooling_of(config) == MEAN, kernel=kernel)
    if not classifier._can_set_attn_implementation():  # transformers would warn, and change nothing
        yield capture
        return
    AttentionInterface.register(_NAME, capture.attention)
    AttentionMaskInterface.register(_NAME, sdpa_mask)
    before = classifier.config._attn_implementation
    try:
        classifier.set_attn_implementation(_NAME)
        yield capture
    finally:
        classifier.set_attn_implementation(before)


def last_layer_attention(classifier: Any, capture: DocumentAttention, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    """Run ``classifier`` inside :func:`document_attention` and return the (B, T) attention of its document token."""
    with suppress(_LastLayerSeen):
        classifier(**inputs)
    row = capture.take()
    if row is None:
        # An architecture with an attention of its own (DeBERTa, say) passes our function by: ask it the slow way.
        attentions = classifier(**inputs, output_attentions=True).attentions
        if not attentions or attentions[-1] is None:
            raise ModelError("this backbone does not show its attention; use --keywords frequency")
        heads = attentions[-1].float().mean(dim=1)  # (B, T, T)
        pooled = pooling_of(classifier.config) == MEAN
        row = _document_row(heads, inputs.get("attention_mask")) if pooled else heads[:, 0]
    return row
