"""Tensors on disk: safetensors, written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from masker.files import atomic_path

if TYPE_CHECKING:
    import torch


def write_tensors(tensors: Mapping[str, torch.Tensor], path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write tensors of PyTorch to a safetensors file; raises OSError if it cannot be written."""
    from safetensors.torch import save_file

    dense = {name: tensor.contiguous() for name, tensor in tensors.items()}
    _write(path, lambda temporary: save_file(dense, temporary, metadata=metadata))


def write_arrays(arrays: Mapping[str, npt.NDArray[Any]], path: Path) -> None:
    """Write arrays of NumPy to a safetensors file; raises OSError if it cannot be written."""
    from safetensors.numpy import save_file

    dense = {name: np.array(array, order="C") for name, array in arrays.items()}
    _write(path, lambda temporary: save_file(dense, temporary))


def _write(path: Path, save: Callable[[Path], None]) -> None:
    from safetensors import SafetensorError

    try:
        with atomic_path(path) as temporary:
            save(temporary)
    except SafetensorError as error:
        raise OSError(f"'{path}' cannot be written ({error})") from None
