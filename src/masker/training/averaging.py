"""Stochastic weight averaging (Izmailov et al. 2018): the mean of a network's weights over its last training steps.

The last weights follow the last batches; their mean lies in the middle of the region that training has reached.
docs/quality.md measures what it is worth.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import nn
from transformers import TrainerCallback

from masker.modeling.tensors import write_tensors

AVERAGE_FILE = "average.safetensors"
_STEPS = "averaged_steps"


class WeightAverage(TrainerCallback):  # type: ignore[misc]
    """Keeps the running mean of the weights that are trained.

    Args:
        network: What is trained.
        share: The share of all steps, counted from the end, to average over.
    """

    def __init__(self, network: nn.Module, share: float) -> None:
        self.share = share
        self._weights = {name: weight for name, weight in network.named_parameters() if weight.requires_grad}
        self._mean: dict[str, torch.Tensor] = {}
        self._steps = 0

    @torch.no_grad()
    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step <= (1 - self.share) * state.max_steps:
            return
        self._steps += 1
        if self._steps == 1:
            self._mean = {name: weight.detach().clone() for name, weight in self._weights.items()}
        else:
            torch._foreach_lerp_(list(self._mean.values()), list(self._weights.values()), 1.0 / self._steps)

    @torch.no_grad()
    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        for name, mean in self._mean.items():
            self._weights[name].copy_(mean)

    def save(self, folder: Path) -> None:
        """Write the mean so far beside a checkpoint."""
        write_tensors({**self._mean, _STEPS: torch.tensor(self._steps)}, folder / AVERAGE_FILE)

    def load(self, folder: Path) -> None:
        """Resume from what :meth:`save` wrote."""
        stored = load_file(folder / AVERAGE_FILE)
        self._steps = int(stored.pop(_STEPS))
        # In the order of the weights, which a file does not keep.
        self._mean = {name: stored[name].to(weight.device) for name, weight in self._weights.items() if name in stored}
