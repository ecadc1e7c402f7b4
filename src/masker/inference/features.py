"""Feature vectors of documents, by kind, from the hidden states of an encoder.

========== ==============================================================================================
``cls``    the document token in the last layer
``mean``   mean over the content tokens in the last layer
``layers`` the same, averaged over all layers
``middle`` the same, averaged from the middle layer to the last but one, which fine-tuning changes less
``frozen`` mean over the tokens in the last layer of the encoder as it was before fine-tuning: a second pass
========== ==============================================================================================

Content tokens are those of the text: neither padding nor special tokens. A document without any has zero vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

#: Kinds that the pass which gives the logits gives as well.
ENCODER_KINDS = ("cls", "mean", "layers", "middle")
FROZEN = "frozen"


def content_weights(input_ids: torch.Tensor, attention_mask: torch.Tensor, special_ids: Sequence[int]) -> torch.Tensor:
    """(B, T) shares of the content tokens in the mean of each row: 1 / their number, and 0 elsewhere."""
    content = attention_mask.bool()
    for special in special_ids:  # few; a graph of ONNX has no "is one of"
        content = content & (input_ids != special)
    inside = content.to(torch.float32)
    return inside / inside.sum(dim=1, keepdim=True).clamp(min=1.0)


def document_features(
    hidden_states: Sequence[torch.Tensor], weights: torch.Tensor, kinds: Sequence[str]
) -> dict[str, torch.Tensor]:
    """(B, H) features of each kind.

    Args:
        hidden_states: (B, T, H) output of the embeddings and of each of the L layers.
        weights: (B, T) of :func:`content_weights`.
        kinds: Which of :data:`ENCODER_KINDS`.
    """
    n_layers = len(hidden_states) - 1
    middle = range((n_layers + 1) // 2, n_layers) or range(max(0, n_layers - 1), n_layers)
    layers = {"mean": [n_layers], "layers": range(1, n_layers + 1), "middle": middle}
    means: dict[int, torch.Tensor] = {}
    features: dict[str, torch.Tensor] = {}
    for kind in kinds:
        if kind == "cls":
            features[kind] = hidden_states[-1][:, 0]
            continue
        for layer in layers[kind]:
            if layer not in means:
                means[layer] = (hidden_states[layer] * weights.unsqueeze(2)).sum(dim=1)
        features[kind] = torch.stack([means[layer] for layer in layers[kind]]).mean(dim=0)
    return features
