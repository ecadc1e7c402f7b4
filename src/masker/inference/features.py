"""Feature vectors of documents, by kind, from the hidden states of an encoder.

========== ================================================================================================
``cls``    the document token in the last layer, or the mean of all tokens where the head reads that
``middle`` mean over the content tokens, averaged over the layers from the middle to the last but one, which
           fine-tuning changes least
========== ================================================================================================

Content tokens are those of the text: neither padding nor special tokens. A document without any has zero vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

#: Kinds that come with the logits in one forward pass.
ENCODER_KINDS = ("cls", "middle")


def content_weights(input_ids: torch.Tensor, attention_mask: torch.Tensor, special_ids: Sequence[int]) -> torch.Tensor:
    """(B, T) weights of a mean over the content tokens of each row: 1 / their number, and 0 elsewhere."""
    content = attention_mask.bool()
    for special in special_ids:  # a handful; ONNX has no "is in" operator
        content = content & (input_ids != special)
    inside = content.to(torch.float32)
    return inside / inside.sum(dim=1, keepdim=True).clamp(min=1.0)


def document_features(
    hidden_states: Sequence[torch.Tensor], weights: torch.Tensor, kinds: Sequence[str], *, pooled: bool = False
) -> dict[str, torch.Tensor]:
    """(B, H) features of each kind.

    Args:
        hidden_states: (B, T, H) output of the embeddings and of each of the L layers.
        weights: (B, T) of :func:`content_weights`.
        kinds: Which of :data:`ENCODER_KINDS`.
        pooled: Whether the last state is that of a pooling layer (:mod:`masker.modeling.pooling`).
    """
    features: dict[str, torch.Tensor] = {}
    if "cls" in kinds:
        features["cls"] = hidden_states[-1][:, 0]
    if "middle" in kinds:
        n_layers = len(hidden_states) - 1 - pooled
        layers = range((n_layers + 1) // 2, n_layers) or range(max(0, n_layers - 1), n_layers)
        means = [(hidden_states[layer] * weights.unsqueeze(2)).sum(dim=1) for layer in layers]
        features["middle"] = torch.stack(means).mean(dim=0)
    return {kind: features[kind] for kind in kinds}
