r"""Mean pooling inside a native classifier, so that plain transformers still opens the model folder.

The heads of transformers read the first token. A sentence encoder was trained for the mean of all tokens, which holds
more. One more encoder layer carries the mean to the first token:

.. math::
    h' = \mathrm{LN}\Bigl(h_1 + s \cdot \frac{1}{T} \sum_{t=1}^{T} h_t\Bigr), \qquad s = 1000

It is an ordinary layer with fixed weights: queries and keys are 0, so attention is uniform over the tokens that the
mask leaves; values are the identity and the output projection is s times the identity, so the mean outweighs the
residual :math:`h_1`; the feed-forward part is 0, and a second layer norm changes nothing. The layer in front of the
classification head becomes :math:`I / \sqrt{H}`, so the head reads a vector of about length 1, as
sentence-transformers does after normalization. None of these weights is trained.

With this package :func:`shorten_pooling` computes the equation directly, for the first token alone. That gives the same
numbers and saves the layer's matrix products.
"""

from __future__ import annotations

import json
import math
import types
from pathlib import Path
from typing import Any

import torch
from torch import nn

from masker.hub import cache_only_when_offline

#: The name of the pooling in ``config.json``.
_MARK = "masker_pooling"
MEAN, DOCUMENT_TOKEN = "mean", "document-token"
#: s: large enough to outweigh the residual, small enough for half precision.
_SCALE = 1000.0
#: Families with BERT's layers, and the module in front of their output layer.
_HEADS = {
    "bert": "bert.pooler.dense",
    "camembert": "classifier.dense",
    "roberta": "classifier.dense",
    "xlm-roberta": "classifier.dense",
}
#: Families whose head brings that module along: new whenever the head is.
_OWN_LAYER = {"camembert", "mpnet", "roberta", "xlm-roberta"}


def pooling_of(config: Any) -> str:
    """The pooling of a classifier with this configuration."""
    return str(getattr(config, _MARK, DOCUMENT_TOKEN))


def can_pool_mean(config: Any) -> bool:
    """Whether the family's layers can carry the mean: ALBERT's share their weights, others have another form."""
    return config.model_type in _HEADS


def declared_pooling(source: str) -> str | None:
    """What a sentence encoder says of itself in ``1_Pooling/config.json``; ``None`` if it says nothing.

    Args:
        source: A folder or hub id.
    """
    path: Path | None = Path(source) / "1_Pooling" / "config.json"
    if not Path(source).is_dir():
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import HfHubHTTPError

        try:
            with cache_only_when_offline():
                path = Path(hf_hub_download(source, "1_Pooling/config.json"))
        except (OSError, ValueError, HfHubHTTPError):
            path = None
    if path is None or not path.is_file():
        return None
    try:
        modes = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(modes, dict):
        return None
    # Newer folders name the mode, older ones have a flag for each.
    name = modes.get("pooling_mode")
    if modes.get("pooling_mode_mean_tokens") or name == "mean":
        return MEAN
    return DOCUMENT_TOKEN if modes.get("pooling_mode_cls_token") or name == "cls" else None


def add_mean_pooling(classifier: Any) -> None:
    """Append the pooling layer to a classifier, in place; does nothing if it is there already."""
    config = classifier.config
    if pooling_of(config) == MEAN:
        return
    encoder = classifier.base_model.encoder
    layer = type(encoder.layer[0])(config, layer_idx=len(encoder.layer)).to(classifier.device)
    with torch.no_grad():
        _carry_the_mean(layer)
        _pass_through(classifier.get_submodule(_HEADS[config.model_type]))
    encoder.layer.append(layer.train(classifier.training))
    config.num_hidden_layers += 1
    setattr(config, _MARK, MEAN)
    shorten_pooling(classifier)


def _carry_the_mean(layer: Any) -> None:
    attention, size = layer.attention.self, layer.attention.output.dense.out_features
    for parameter in layer.parameters():
        parameter.zero_()
    attention.value.weight.copy_(torch.eye(size))
    layer.attention.output.dense.weight.copy_(_SCALE * torch.eye(size))
    for norm in (layer.attention.output.LayerNorm, layer.output.LayerNorm):
        norm.weight.fill_(1.0)


def _pass_through(dense: nn.Linear) -> None:
    """Pass the vector through, small enough for the tanh behind it to be nearly linear."""
    dense.weight.copy_(torch.eye(dense.in_features) / math.sqrt(dense.in_features))
    dense.bias.zero_()


def pass_document_token_through(classifier: Any) -> None:
    """Make a new layer in front of the output layer pass the document token through, as one behind the mean does.

    A random layer would only blur what a probe reads. A trained layer has a bias that is not 0; it stays.
    """
    if classifier.config.model_type in _OWN_LAYER and not (dense := classifier.classifier.dense).bias.any():
        with torch.no_grad():
            _pass_through(dense)


def pooling_parameters(classifier: Any) -> list[nn.Parameter]:
    """The fixed weights that make up the pooling; none for the document token."""
    if pooling_of(classifier.config) != MEAN:
        return []
    dense = classifier.get_submodule(_HEADS[classifier.config.model_type])
    return [*classifier.base_model.encoder.layer[-1].parameters(), *dense.parameters()]


def shorten_pooling(classifier: Any) -> None:
    """Let the pooling layer compute its equation directly, for the first token alone.

    Its weights stay where they are, so what is saved is the native layer. Without a pooling layer nothing happens.
    """
    if pooling_of(classifier.config) == MEAN:
        layer = classifier.base_model.encoder.layer[-1]
        layer.forward = types.MethodType(_pool, layer)


def _pool(
    layer: Any, hidden_states: torch.Tensor, attention_mask: torch.Tensor | None = None, *_: Any, **__: Any
) -> torch.Tensor:
    """(B, 1, H) output of the pooling layer for the first token of (B, T, H) states."""
    states = hidden_states.float()
    if attention_mask is None:
        mean = states.mean(dim=1, keepdim=True)
    else:
        seen = seen_tokens(attention_mask).to(states.dtype).unsqueeze(1)  # (B, 1, T)
        mean = (seen @ states) / seen.sum(dim=2, keepdim=True)
    shape = layer.output.LayerNorm.normalized_shape  # the tracing exporter of ONNX takes no shape of a tensor here
    pooled = nn.functional.layer_norm(_SCALE * mean + states[:, :1], shape, eps=1e-12)
    return pooled.to(hidden_states.dtype)


def seen_tokens(attention_mask: torch.Tensor) -> torch.Tensor:
    """(B, T) which tokens the first one may attend to, from a mask of any attention implementation."""
    mask = attention_mask if attention_mask.dim() == 2 else attention_mask[:, 0, 0]
    # Masks are flags, or numbers that are added to the scores: 0 where a token is seen.
    return mask if mask.dtype == torch.bool else (mask > 0 if attention_mask.dim() == 2 else mask >= 0)


def encoder_layers(config: Any) -> int:
    """The number of layers of the pre-trained encoder, without the pooling layer; 0 for DOC's convolution."""
    return int(getattr(config, "num_hidden_layers", 0)) - (pooling_of(config) == MEAN)
