"""Parameters with the learning rate and weight decay of their part of the network."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from masker.config import TrainingSettings
from masker.modeling.network import MaskerNetwork


def optimizer_groups(
    network: MaskerNetwork, training: TrainingSettings, decayed: Collection[str], *, regularized: bool
) -> list[dict[str, Any]]:
    """Groups for a torch optimizer.

    Args:
        network: Its parameters that are trained.
        training: The rates.
        decayed: Names of the parameters with weight decay.
        regularized: Whether a regularizer is active, which lowers the rate of the embedding layers.
    """
    encoder = network.encoder_parameter_names()
    slow = encoder if training.embedding_layers == "encoder" else network.embedding_parameter_names()
    groups: dict[tuple[float, bool], list[Any]] = {}
    for name, parameter in network.named_parameters():
        if parameter.requires_grad:
            scale = training.embedding_lr_scale if regularized and name in slow else 1.0
            scale = scale if name in encoder else training.head_lr_scale
            groups.setdefault((scale, name in decayed), []).append(parameter)
    return [
        {
            "params": parameters,
            "weight_decay": training.weight_decay if decays else 0.0,
            "lr": training.learning_rate * scale,
        }
        for (scale, decays), parameters in groups.items()
    ]
