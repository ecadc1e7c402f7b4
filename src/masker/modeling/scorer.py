"""What turns encoded documents into the outputs of f_doc, whichever engine runs the network.

============== ===================================================================================
``torch``      the native classifier in PyTorch, on any device
``torch-bf16`` the same in bfloat16, where the processor multiplies that: faster, slightly other numbers
``onnx``       ``onnx/model.onnx`` of the model folder in ONNX Runtime, the same numbers to 1e-4
``onnx-int8``  ``onnx/model.int8.onnx``, weights of 8 bits: fastest on a CPU, slightly other numbers
============== ===================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, cast, get_args

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_array

from masker.data.encoding import Encoded
from masker.errors import ConfigError, did_you_mean
from masker.masking.collator import Collator
from masker.modeling.backbone import load_classifier
from masker.modeling.inference import Advance, content_special_ids, pool_windows, predict_logits, predict_outputs
from masker.modeling.onnx_runtime import ONNX_FOLDER, OnnxBackend, OnnxScorer, open_exported, weight_files
from masker.modeling.packed_linear import pack_linears

Backend = Literal["torch", "torch-bf16", "onnx", "onnx-int8"]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Weights:
    """What a model folder must hold to open a scorer again.

    Attributes:
        native: What transformers saves by its ``save_pretrained``: a classifier, an encoder, or a configuration alone.
        tensors: What goes into ``masker.safetensors``.
    """

    native: Any
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)


class Outputs(NamedTuple):
    """What is known of N documents before they are scored.

    Attributes:
        logits: (N, C) outputs of f_doc.
        features: (N, H) dense or sparse, for scores that read them; ``None`` where nobody asked.
    """

    logits: Floats
    features: Any = None


class Scorer(Protocol):
    """Runs a trained classifier over encoded documents."""

    @property
    def n_outputs(self) -> int:
        """C, the columns of the logits."""

    def predict_logits(self, encoded: Encoded, advance: Advance | None = None) -> Floats:
        """(N, C) logits of f_doc, in the order of the rows."""

    def predict_outputs(self, encoded: Encoded, advance: Advance | None = None) -> tuple[Floats, Any]:
        """(N, C) logits and (N, H) features: the document token's embedding in the last hidden state."""

    def weights(self) -> Weights | None:
        """What has to be saved; ``None`` when this engine does not hold the full weights."""


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

    def weights(self) -> Weights | None:
        """The classifier, unless it was rounded to bfloat16."""
        return Weights(self.classifier) if self.classifier.dtype == torch.float32 else None


def document_outputs(
    scorer: Scorer, encoded: Encoded, pooling: str, advance: Advance | None = None, *, features: bool = False
) -> Outputs:
    """Run a scorer over rows and give one output for each document.

    Args:
        scorer: The network.
        encoded: Rows; several of them where a document has several windows.
        pooling: How the logits of windows are joined; see :func:`masker.modeling.inference.pool_windows`.
        advance: Called with the number of rows done.
        features: Whether features are wanted; those of windows are averaged.
    """
    if features:
        return pool_outputs(Outputs(*scorer.predict_outputs(encoded, advance)), encoded.document, pooling)
    return pool_outputs(Outputs(scorer.predict_logits(encoded, advance)), encoded.document, pooling)


def pool_outputs(outputs: Outputs, document: npt.NDArray[np.int64], pooling: str) -> Outputs:
    """Join the outputs of the windows of each document; ``document`` (W,) tells whose window each row is, in order."""
    n_documents = int(document[-1]) + 1 if len(document) else 0
    if n_documents == len(document):
        return outputs
    logits = pool_windows(outputs.logits, document, n_documents, pooling)
    if outputs.features is None:
        return Outputs(logits)
    shares = 1.0 / np.bincount(document)[document]
    places = document.astype(np.int32), np.arange(len(document), dtype=np.int32)
    mean = csr_array((shares, places), shape=(n_documents, len(document)))
    return Outputs(logits, mean @ outputs.features)


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
        if backend == "torch-bf16":
            classifier = classifier.bfloat16()
            pack_linears(classifier)
        return TorchScorer(classifier, tokenizer)
    return OnnxScorer(open_exported(folder, cast(OnnxBackend, backend)), tokenizer.pad_token_id)
