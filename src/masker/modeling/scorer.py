"""What turns encoded documents into the outputs of f_doc, whichever engine runs the network.

============== ===================================================================================
``torch``      the native classifier in PyTorch, on any device
``torch-bf16`` the same in bfloat16, where the processor multiplies that: faster, slightly other numbers
``onnx``       ``onnx/model.onnx`` of the model folder in ONNX Runtime, the same numbers to 1e-4
``onnx-int8``  ``onnx/model.int8.onnx``, weights of 8 bits: fastest on a CPU, slightly other numbers
============== ===================================================================================
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Protocol, cast, get_args

import numpy as np
import numpy.typing as npt

from masker.data.encoding import Encoded
from masker.errors import ConfigError, did_you_mean
from masker.masking.collator import Collator
from masker.modeling.backbone import load_classifier
from masker.modeling.inference import Advance, content_special_ids, predict_logits, predict_outputs
from masker.modeling.onnx_runtime import ONNX_FOLDER, OnnxBackend, OnnxScorer, open_exported, weight_files

Backend = Literal["torch", "torch-bf16", "onnx", "onnx-int8"]
Floats = npt.NDArray[np.float32]


class Scorer(Protocol):
    """Runs a trained classifier over encoded documents."""

    @property
    def n_outputs(self) -> int:
        """C, the columns of the logits."""

    def predict_logits(self, encoded: Encoded, advance: Advance | None = None) -> Floats:
        """(N, C) logits of f_doc, in the order of the rows."""

    def predict_outputs(self, encoded: Encoded, advance: Advance | None = None) -> tuple[Floats, Floats]:
        """(N, C) logits and (N, H) features: the document token's embedding in the last hidden state."""


class TorchScorer:
    """The native classifier of transformers.

    Args:
        classifier: A sequence classifier.
        tokenizer: Its tokenizer.
    """

    def __init__(self, classifier: Any, tokenizer: Any) -> None:
        self.classifier = classifier.eval()
        self._collator = Collator(tokenizer.pad_token_id, sorted(content_special_ids(tokenizer)))

    @property
    def n_outputs(self) -> int:
        """C."""
        return int(self.classifier.config.num_labels)

    def predict_logits(self, encoded: Encoded, advance: Advance | None = None) -> Floats:
        """(N, C) logits."""
        return predict_logits(self.classifier, self._collator, encoded, advance)

    def predict_outputs(self, encoded: Encoded, advance: Advance | None = None) -> tuple[Floats, Floats]:
        """(N, C) logits and (N, H) features."""
        return predict_outputs(self.classifier, self._collator, encoded, advance)


def open_scorer(path: str | Path, tokenizer: Any, backend: str | None = None) -> Scorer:
    """Open the network of a model folder.

    Args:
        path: A model folder.
        tokenizer: Its tokenizer.
        backend: One of the four above; ``None`` takes torch where the folder has its weights.

    Raises:
        ConfigError: When there is no such backend.
        ModelError: When the weights cannot be opened, or the folder has no current export for the backend.
    """
    known = get_args(Backend)
    if backend is not None and backend not in known:
        raise ConfigError(f"backend must be one of {', '.join(known)}; got '{backend}'.{did_you_mean(backend, known)}")
    folder = Path(path).expanduser()
    if backend is None:
        backend = "onnx" if (folder / ONNX_FOLDER).is_dir() and not weight_files(folder) else "torch"
    if backend in ("torch", "torch-bf16"):
        classifier = load_classifier(str(folder))
        return TorchScorer(classifier.bfloat16() if backend == "torch-bf16" else classifier, tokenizer)
    return OnnxScorer(open_exported(folder, cast(OnnxBackend, backend)), tokenizer.pad_token_id)
