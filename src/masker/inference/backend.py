"""What turns encoded documents into the outputs of f_doc, whichever engine runs the network.

============== ===================================================================================
``torch``      the native classifier in PyTorch, on any device
``torch-bf16`` the same in bfloat16, where the processor multiplies that: faster, slightly other numbers
``onnx``       ``onnx/model.onnx`` of the model folder in ONNX Runtime, the same numbers to 1e-4
``onnx-int8``  ``onnx/model.int8.onnx``, weights of 8 bits: fastest on a CPU, slightly other numbers
============== ===================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, cast, get_args

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_array

from masker.documents.encoding import Encoded
from masker.errors import ConfigError, ModelError, did_you_mean
from masker.inference.batching import (
    Advance,
    content_special_ids,
    pool_windows,
    predict_logits,
    predict_means,
    predict_outputs,
)
from masker.inference.features import FROZEN
from masker.inference.onnx_backend import ONNX_FOLDER, OnnxBackend, OnnxScorer, open_exported, weight_files
from masker.inference.outputs import Outputs as Outputs
from masker.inference.packed_linear import pack_linears
from masker.masking.collator import Collator
from masker.modeling.backbone import load_classifier, load_encoder
from masker.modeling.model_folder import PRETRAINED

Backend = Literal["torch", "torch-bf16", "onnx", "onnx-int8"]
Floats = npt.NDArray[np.float32]

#: Documents whose features are held at a time while statistics are gathered.
STREAM_DOCUMENTS = 2048


@dataclass(frozen=True)
class Weights:
    """What a model folder must hold to open a scorer again.

    Attributes:
        native: What transformers saves by its ``save_pretrained``: a classifier, an encoder, or a configuration alone.
        tensors: What goes into ``masker.safetensors``.
        pretrained: The encoder before fine-tuning, where a score reads its features.
    """

    native: Any
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)
    pretrained: Any = None


class Scorer(Protocol):
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
        """What has to be saved; ``None`` when this engine does not hold the full weights."""


class TorchScorer:
    """The native classifier of transformers.

    Args:
        classifier: A sequence classifier.
        tokenizer: Its tokenizer.
        pretrained: The encoder as it was before fine-tuning, for features of kind ``frozen``.
    """

    def __init__(self, classifier: Any, tokenizer: Any, pretrained: Any = None) -> None:
        self.classifier = classifier.eval()
        self.pretrained = pretrained
        self._collator = Collator(tokenizer.pad_token_id, sorted(content_special_ids(tokenizer)))

    @property
    def n_outputs(self) -> int:
        """C."""
        return int(self.classifier.config.num_labels)

    def predict_logits(self, encoded: Encoded, advance: Advance | None = None) -> Floats:
        """(N, C) logits."""
        return predict_logits(self.classifier, self._collator, encoded, advance)

    def predict_outputs(
        self, encoded: Encoded, kinds: Sequence[str] = ("cls",), advance: Advance | None = None
    ) -> Outputs:
        """(N, C) logits and (N, H) features."""
        own = [kind for kind in kinds if kind != FROZEN]
        if own:
            outputs = Outputs(*predict_outputs(self.classifier, self._collator, encoded, own, advance))
        else:
            outputs = Outputs(self.predict_logits(encoded, advance))
        if FROZEN not in kinds:
            return outputs
        if self.pretrained is None:
            raise ModelError("this model was saved without its pre-trained encoder, which the score reads; choose "
                             "another --score, or train with it")  # fmt: skip
        frozen = predict_means(self.pretrained, self._collator, encoded)
        return Outputs(outputs.logits, {**outputs.features, FROZEN: frozen})

    def weights(self) -> Weights | None:
        """The classifier, unless it was rounded to bfloat16."""
        return Weights(self.classifier, pretrained=self.pretrained) if self.classifier.dtype == torch.float32 else None


def document_outputs(
    scorer: Scorer, encoded: Encoded, pooling: str, advance: Advance | None = None, *, kinds: Sequence[str] = ()
) -> Outputs:
    """Run a scorer over rows and give one output for each document.

    Args:
        scorer: The network.
        encoded: Rows; several of them where a document has several windows.
        pooling: How the logits of windows are joined; see :func:`masker.inference.batching.pool_windows`.
        advance: Called with the number of rows done.
        kinds: Which features are wanted; those of windows are averaged.
    """
    if kinds:
        outputs = pool_outputs(scorer.predict_outputs(encoded, kinds, advance), encoded.document, pooling)
    else:
        outputs = pool_outputs(Outputs(scorer.predict_logits(encoded, advance)), encoded.document, pooling)
    lengths = np.bincount(encoded.document, weights=encoded.lengths, minlength=len(outputs.logits))
    return outputs._replace(lengths=lengths.astype(np.int64))


def stream_outputs(
    scorer: Scorer, encoded: Encoded, pooling: str, advance: Advance | None = None, *, kinds: Sequence[str] = ()
) -> Iterator[Outputs]:
    """The same, :data:`STREAM_DOCUMENTS` documents at a time, so that not all features are held at once."""
    last = int(encoded.document[-1]) if len(encoded) else -1
    for start in range(0, last + 1, STREAM_DOCUMENTS):
        first, end = np.searchsorted(encoded.document, [start, start + STREAM_DOCUMENTS])
        types = encoded.token_type_ids
        part = Encoded(
            encoded.input_ids[first:end],
            None if types is None else types[first:end],
            None,
            encoded.document[first:end] - start,
        )
        yield document_outputs(scorer, part, pooling, advance, kinds=kinds)


def pool_outputs(outputs: Outputs, document: npt.NDArray[np.int64], pooling: str) -> Outputs:
    """Join the outputs of the windows of each document; ``document`` (W,) tells whose window each row is, in order."""
    n_documents = int(document[-1]) + 1 if len(document) else 0
    if n_documents == len(document):
        return outputs
    logits = pool_windows(outputs.logits, document, n_documents, pooling)
    if not outputs.features:
        return Outputs(logits)
    shares = 1.0 / np.bincount(document)[document]
    places = document.astype(np.int32), np.arange(len(document), dtype=np.int32)
    mean = csr_array((shares, places), shape=(n_documents, len(document)))
    return Outputs(logits, {kind: mean @ values for kind, values in outputs.features.items()})


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
        pretrained = load_encoder(str(folder / PRETRAINED)) if (folder / PRETRAINED).is_dir() else None
        return TorchScorer(classifier, tokenizer, pretrained)
    return OnnxScorer(open_exported(folder, cast(OnnxBackend, backend)), tokenizer.pad_token_id)
