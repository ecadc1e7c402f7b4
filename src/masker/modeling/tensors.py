"""Writing tensors to disk: safetensors, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import torch


def write_tensors(tensors: dict[str, torch.Tensor], path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write a safetensors file under a temporary name and rename it.

    Raises:
        OSError: When the disk does not take it; the file is not there then.
    """
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    temporary = path.with_name(f".{path.name}.tmp")
    try:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, temporary, metadata=metadata)
        os.replace(temporary, path)
    except SafetensorError as error:
        raise OSError(f"'{path}' cannot be written ({error})") from None
    finally:
        temporary.unlink(missing_ok=True)
