"""Backends: what turns encoded documents into the outputs of f_doc.

============== =======================================================================================
``torch``      the native classifier in PyTorch, on any device
``torch-bf16`` the same in bfloat16: faster where the hardware multiplies it, slightly different numbers
``onnx``       ``onnx/model.onnx`` of the model folder in ONNX Runtime; agrees with PyTorch to 1e-4
``onnx-int8``  ``onnx/model.int8.onnx``, 8-bit weights: fastest on a CPU, slightly different numbers
============== =======================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, cast, get_args

import numpy as np
import numpy.typing as npt
import torch

from masker.documents.encoding import Encoded
from masker.errors import ConfigError, did_you_mean
from masker.inference.batching import Advance
from masker.inference.outputs import Outputs

BackendName = Literal["torch", "torch-bf16", "onnx", "onnx-int8"]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Weights:
    """What a model folder needs to open a backend again.

    Attributes:
        native: Has transformers' ``save_pretrained``: a classifier, an encoder, or a configuration alone.
        tensors: For ``masker.safetensors``.
    """

    native: Any
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)


class Backend(Protocol):
    """Runs a trained classifier over encoded documents."""

    @property
    def n_outputs(self) -> int:
        """C, the columns of the logits."""

    def predict_logits(self, encoded: Encoded, advance: Advance | None = None) -> Floats:
        """(N, C) logits of f_doc, in the order of the rows."""

    def predict_outputs(
        self, encoded: Encoded, kinds: Sequence[str] = ("cls",), advance: Advance | None = None
    ) -> Outputs:
        """(N, C) logits and (N, H) features of each kind."""

    def weights(self) -> Weights | None:
        """What to save; ``None`` if this backend does not hold the full weights."""


def check_backend(backend: str | None, possible: Sequence[str] = get_args(BackendName)) -> None:
    """Refuse a backend that does not exist.

    Raises:
        ConfigError: Names those that do.
    """
    if backend is not None and backend not in possible:
        hint = did_you_mean(backend, possible)
        raise ConfigError(f"backend must be one of {', '.join(possible)}; got '{backend}'.{hint}")


def open_backend(
    folder: Path,
    tokenizer: Any,
    tensors: dict[str, torch.Tensor],
    backend: str | None = None,
    device: str = "auto",
) -> Backend:
    """Open the network of a model folder.

    Args:
        folder: A model folder.
        tokenizer: Its tokenizer.
        tensors: The content of ``masker.safetensors``.
        backend: One of the four above; ``None`` takes torch unless the folder was exported without its weights.
        device: Where PyTorch runs; ONNX Runtime runs on the CPU.

    Raises:
        ConfigError: When there is no such backend or device.
        ModelError: When the weights cannot be opened, or the folder has no current export for the backend.
    """
    from masker.inference.onnx_backend import ONNX_FOLDER, OnnxBackend, OnnxName, find_export, weight_files
    from masker.inference.torch_backend import TorchBackend
    from masker.modeling.backbone import load_classifier

    check_backend(backend)
    if backend is None:
        backend = "onnx" if (folder / ONNX_FOLDER).is_dir() and not weight_files(folder) else "torch"
    if backend in ("torch", "torch-bf16"):
        classifier = load_classifier(str(folder))
        return TorchBackend(classifier, tokenizer, device, bf16=backend == "torch-bf16", tensors=tensors)
    if device not in ("auto", "cpu"):
        raise ConfigError(f"backend {backend} runs on the CPU; got --device {device}: leave it out, or use torch")
    return OnnxBackend(find_export(folder, cast(OnnxName, backend)), tokenizer.pad_token_id)
