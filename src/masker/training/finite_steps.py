"""No NaN reaches the weights: a step whose gradients are not finite is left out, and too many of them end the training.

One overflow spoils all weights at once, and everything computed from them afterwards. Without its gradients, the
optimizer leaves a weight and its moments as they are.
"""

from __future__ import annotations

import logging
from typing import Any

import torch
from torch import nn
from transformers import TrainerCallback

from masker.errors import MaskerError

_log = logging.getLogger("masker")

#: Steps in a row that may be left out.
MOST_IN_A_ROW = 5


class FiniteSteps(TrainerCallback):  # type: ignore[misc]
    """Leaves out steps with gradients that are not finite.

    Args:
        network: What is trained.
        scaled: Whether the loss is scaled for float16: then the scaler looks for overflows itself, and expects some.

    Attributes:
        left_out: Steps left out so far.
    """

    def __init__(self, network: nn.Module, *, scaled: bool = False) -> None:
        self.left_out = 0
        self._in_a_row = 0
        self._weights = [weight for weight in network.parameters() if weight.requires_grad]
        self._scaled = scaled

    @torch.no_grad()
    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        gradients = [weight.grad for weight in self._weights if weight.grad is not None]
        if self._scaled or not gradients or all(norm.isfinite() for norm in torch._foreach_norm(gradients)):
            self._in_a_row = 0
            return
        self.left_out += 1
        self._in_a_row += 1
        if self._in_a_row > MOST_IN_A_ROW:
            raise MaskerError(
                f"training diverged: the gradients of {self._in_a_row} steps in a row are not finite; train again with "
                "a lower learning rate (--set training.learning_rate=2e-5), or with --set training.precision=fp32"
            )
        for weight in self._weights:
            weight.grad = None

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.left_out:
            _log.warning(
                "%d of %d steps were left out, as their gradients were not finite; a lower learning rate may help",
                self.left_out,
                state.global_step,
            )
