"""The output layer of a classifier: the last linear layer, with one row for each class."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from masker.errors import ModelError


def output_layer(classifier: Any) -> str | None:
    """The name of the output layer; ``None`` if the architecture has none that we recognise."""
    name, layer = [(name, part) for name, part in classifier.named_modules() if isinstance(part, nn.Linear)][-1]
    return name if layer.out_features == classifier.config.num_labels and layer.bias is not None else None


def start_at_prior(classifier: Any) -> None:
    """Start each sigmoid of a new 1-vs-rest head at 1/C instead of 1/2.

    C − 1 of C targets are 0. A head that starts at 1/2 spends its first steps on pushing all outputs down, which
    teaches the encoder nothing about classes.
    """
    name, n_classes = output_layer(classifier), classifier.config.num_labels
    if name is not None and n_classes > 1:
        torch.nn.init.constant_(classifier.get_submodule(name).bias, -math.log(n_classes - 1))


def set_output_layer(classifier: Any, weight: npt.NDArray[np.float64], bias: npt.NDArray[np.float64]) -> None:
    """Give the output layer (C, H) weights and (C,) biases."""
    layer = classifier.get_submodule(_required(classifier))
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(np.asarray(weight, dtype=np.float32)))
        layer.bias.copy_(torch.from_numpy(np.asarray(bias, dtype=np.float32)))


@contextmanager
def without_output_layer(classifier: Any) -> Iterator[None]:
    """While inside, the classifier's logits are the vectors that its output layer reads."""
    parent, _, name = _required(classifier).rpartition(".")
    module = classifier.get_submodule(parent)
    layer = getattr(module, name)
    setattr(module, name, nn.Identity())
    try:
        yield
    finally:
        setattr(module, name, layer)


def head_inputs_of(classifier: Any, states: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """(N, F) vectors that the output layer reads, from (N, H) states of the document token in the last layer.

    Raises:
        ModelError: When the architecture's head is of a form that we do not know.
    """
    rows = torch.from_numpy(np.asarray(states, dtype=np.float32)).to(classifier.device).unsqueeze(1)  # (N, 1, H)
    pooler, name = getattr(classifier.base_model, "pooler", None), _required(classifier)
    with torch.inference_mode():
        if isinstance(pooler, nn.Linear):  # ALBERT
            vectors = classifier.base_model.pooler_activation(pooler(rows[:, 0]))
        elif pooler is not None:
            vectors = pooler(rows)
        elif "." in name:  # RoBERTa, ELECTRA: a head of its own around the output layer
            with without_output_layer(classifier):
                vectors = classifier.get_submodule(name.rpartition(".")[0])(rows)
        else:
            raise ModelError(f"{type(classifier).__name__} has a head of an unknown form; use --retrain")
    found: npt.NDArray[np.float32] = vectors.float().cpu().numpy()
    return found


def grow_output_layer(
    classifier: Any, weight: npt.NDArray[np.float64], bias: npt.NDArray[np.float64], classes: Sequence[str]
) -> None:
    """Give the classifier an output layer of (C, F) weights and (C,) biases, and the names of its classes."""
    parent, _, name = _required(classifier).rpartition(".")
    module = classifier.get_submodule(parent)
    layer = nn.Linear(weight.shape[1], len(classes)).to(classifier.device, classifier.dtype)
    setattr(module, name, layer)
    classifier.config.id2label = dict(enumerate(classes))
    classifier.config.label2id = {label: index for index, label in enumerate(classes)}
    classifier.num_labels = len(classes)
    set_output_layer(classifier, weight, bias)


def read_output_layer(classifier: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """(C, F) weights and (C,) biases of the output layer."""
    layer = classifier.get_submodule(_required(classifier))
    weight, bias = (part.detach().double().cpu().numpy() for part in (layer.weight, layer.bias))
    return weight, bias


def _required(classifier: Any) -> str:
    name = output_layer(classifier)
    if name is None:
        raise ModelError(
            f"{type(classifier).__name__} has no linear output layer to start from a probe; "
            "use --set training.head_start=new"
        )
    return name
