"""Skipping the part of the last layer that nobody reads.

f_doc reads the document token alone, and after the last attention every token is processed on its own. So the other
tokens are dropped there: of 6 layers that saves an eighth of all matrix products. The logits, and all features that do
not read other tokens of the last layer, stay the same.

The hooks stay on the network for good and are inactive outside a :class:`DocumentTokenPass`. What a pass knows is in a
context variable, so passes in several threads, of either kind, do not disturb each other.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import torch

from masker.modeling.pooling import MEAN, pooling_of

#: Architectures with BERT's layers, whose head reads the first token of the last layer and nothing else.
_LIKE_BERT = {"bert", "camembert", "electra", "roberta", "xlm-roberta"}
_MARK = "masker_drops_tokens"

#: Calls of the hooked module that are left in this forward pass; the last one drops tokens. 0 where all are kept.
_CALLS_LEFT: ContextVar[int] = ContextVar("masker_calls_left", default=0)


class DocumentTokenPass:
    """A classifier whose last hidden state has one token, the document's.

    Architectures that we do not know run unchanged.

    Args:
        classifier: A sequence classifier of transformers; calling it directly still gives all tokens.
    """

    def __init__(self, classifier: Any) -> None:
        self._classifier = classifier
        self._calls = _install(classifier)

    def __call__(self, **inputs: Any) -> Any:
        """The output of the classifier."""
        before = _CALLS_LEFT.set(self._calls)
        try:
            return self._classifier(**inputs)
        finally:
            _CALLS_LEFT.reset(before)


def _install(classifier: Any) -> int:
    """Hook the module that ends the last attention; returns its calls in one forward pass, 0 if there is none."""
    config = classifier.config
    if getattr(config, "chunk_size_feed_forward", 0):  # it splits a fixed number of tokens
        return 0
    if pooling_of(config) == MEAN:  # the mean needs all tokens, and the pooling layer hands on one
        return 0
    try:
        if config.model_type in _LIKE_BERT:
            module, calls = classifier.base_model.encoder.layer[-1].attention.output, 1
        elif config.model_type == "albert":
            module = classifier.base_model.encoder.albert_layer_groups[-1].albert_layers[-1].attention
            # Layers share their weights within a group, and all calls of one group follow each other.
            calls = config.num_hidden_layers - _first_layer_of_last_group(config)
        elif config.model_type == "mpnet":
            module, calls = classifier.base_model.encoder.layer[-1].attention, 1
        else:
            return 0
    except (AttributeError, IndexError):  # another make of the same name
        return 0
    if not hasattr(module, _MARK):
        if config.model_type in ("albert", "mpnet"):
            module.register_forward_hook(_drop_from_output)
        else:
            module.register_forward_pre_hook(_drop_from_inputs)
        setattr(module, _MARK, True)
    return calls


def _first_layer_of_last_group(config: Any) -> int:
    size = config.num_hidden_layers / config.num_hidden_groups
    return next(layer for layer in range(config.num_hidden_layers) if int(layer / size) == config.num_hidden_groups - 1)


def _drop_from_inputs(_module: Any, arguments: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...] | None:
    """BERT: before the heads are joined and the layer's input is added."""
    return tuple(values[:, :1] for values in arguments) if _is_last_call() else None


def _drop_from_output(_module: Any, _arguments: Any, output: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """ALBERT and MPNet: the attention module joins the heads and adds the layer's input itself."""
    return (output[0][:, :1], *output[1:]) if _is_last_call() else None


def _is_last_call() -> bool:
    left = _CALLS_LEFT.get()
    if left:
        _CALLS_LEFT.set(left - 1)
    return left == 1
