"""Tensors on disk: safetensors, written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import torch

from masker.files import atomic_path


def write_tensors(tensors: dict[str, torch.Tensor], path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write a safetensors file, whole or not at all; raises OSError if it cannot be written."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    try:
        with atomic_path(path) as temporary:
            save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, temporary, metadata=metadata)
    except SafetensorError as error:
        raise OSError(f"'{path}' cannot be written ({error})") from None
