"""Linear layers whose weights lie as the processor's matrix kernels want them.

PyTorch rearranges the weights of a linear layer at every call, which for a short text takes longer than the product.
A network that is only used, never trained or saved, can have it done once. The products are the same.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class PackedLinear(nn.Module):
    """A linear layer for inference on a CPU.

    Args:
        linear: The layer it stands for.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self._weight = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), None)
        self._bias = None if linear.bias is None else linear.bias.detach()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """X W^T + b."""
        product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(x, self._weight, self._bias, "none", [], "")
        return product


def pack_linears(classifier: Any) -> int:
    """Put packed layers in the place of all linear ones, where this build of PyTorch has the kernels.

    Returns:
        How many; 0 leaves the network as it was.
    """
    if classifier.device.type != "cpu" or not _has_kernels(classifier.dtype):
        return 0
    found = [
        (parent, name, child)
        for parent in classifier.modules()
        for name, child in parent.named_children()
        if type(child) is nn.Linear
    ]
    with torch.no_grad():
        for parent, name, child in found:
            setattr(parent, name, PackedLinear(child))
    return len(found)


def _has_kernels(dtype: torch.dtype) -> bool:
    """Whether a small layer gives what it should: the kernels are not part of PyTorch's public interface."""
    layer = nn.Linear(16, 8).to(dtype)
    x = torch.linspace(-1, 1, 32).view(2, 16).to(dtype)
    try:
        with torch.no_grad():
            return torch.allclose(PackedLinear(layer)(x).float(), layer(x).float(), atol=1e-2)
    except (AttributeError, RuntimeError, TypeError, NotImplementedError):
        return False
