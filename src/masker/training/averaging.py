"""Stochastic weight averaging (Izmailov et al. 2018): the mean of a network's weights over its last training steps.

The last weights follow the last batches; their mean lies in the middle of the region that training has reached.
docs/quality.md measures what it is worth.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from safetensors.torch import load_file
from torch import nn
from torch.optim.swa_utils import AveragedModel
from transformers import TrainerCallback

from masker.modeling.tensors import write_tensors

AVERAGE_FILE = "average.safetensors"


class WeightAverage(TrainerCallback):  # type: ignore[misc]
    """Keeps the running mean of the weights.

    Args:
        network: What is trained.
        share: The share of all steps, counted from the end, to average over.
    """

    def __init__(self, network: nn.Module, share: float) -> None:
        self.network = network
        self.share = share
        self._mean = AveragedModel(network)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step > (1 - self.share) * state.max_steps:
            self._mean.update_parameters(self.network)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.network.load_state_dict(self._mean.module.state_dict())

    def save(self, folder: Path) -> None:
        """Write the mean so far beside a checkpoint."""
        write_tensors(self._mean.state_dict(), folder / AVERAGE_FILE)

    def load(self, folder: Path) -> None:
        """Resume from what :meth:`save` wrote."""
        self._mean.load_state_dict(load_file(folder / AVERAGE_FILE))
