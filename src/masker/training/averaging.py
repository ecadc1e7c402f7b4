"""The mean of a network's weights over the last steps of its training.

The last weights follow the last batches; their mean over many steps lies in the middle of the region that training
ended in (stochastic weight averaging, Izmailov et al. 2018). What it is worth is measured in docs/quality.md.
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
    """Follows a training run and keeps the mean.

    Args:
        network: What is trained.
        share: Of all steps, how many at the end count.
    """

    def __init__(self, network: nn.Module, share: float) -> None:
        self.network = network
        self.share = share
        self._mean = AveragedModel(network)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Count the weights after this step in."""
        if state.global_step > (1 - self.share) * state.max_steps:
            self._mean.update_parameters(self.network)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Give the network the mean."""
        self.network.load_state_dict(self._mean.module.state_dict())

    def save(self, folder: Path) -> None:
        """Write the mean so far beside a checkpoint."""
        write_tensors(self._mean.state_dict(), folder / AVERAGE_FILE)

    def load(self, folder: Path) -> None:
        """Go on from what :meth:`save` wrote."""
        self._mean.load_state_dict(load_file(folder / AVERAGE_FILE))
