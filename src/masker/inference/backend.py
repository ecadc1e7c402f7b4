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
from typing import Any, Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from masker.documents.encoding import Encoded
from masker.errors import ConfigError, did_you_mean
from masker.inference.batching import Advance
from masker.inference.outputs import Outputs

BackendName = Literal["torch", "torch-bf16", "onnx", "onnx-int8"]
Floats = npt.NDArray[np.float32]

#: Prefixes in ``masker.safetensors`` of the token head and of a linear classifier; the rest belongs to the detector.
TOKEN_HEAD = "token_head."
LINEAR_TENSORS = ("linear.", "features.")


@dataclass(frozen=True)
class Weights:
    """What a model folder needs to open a backend again.

    Attributes:
        native: Has transformers' ``save_pretrained``: a classifier, an encoder, or a configuration alone.
        tensors: For ``masker.safetensors``.
    """

    native: Any
    tensors: dict[str, npt.NDArray[Any]] = field(default_factory=dict)


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
