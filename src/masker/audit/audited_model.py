"""The classifier under audit: any transformers sequence classifier with its tokenizer, and what its outputs mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from masker.config import Head, ModelSettings
from masker.detection.scores.max_probability import class_probabilities
from masker.documents import Documents
from masker.documents.encoding import Encoded
from masker.errors import DataError, ModelError
from masker.inference.torch_backend import TorchBackend, visit_attention
from masker.labels import class_indices, class_name
from masker.modeling.backbone import encoder_length, load_classifier, load_tokenizer
from masker.modeling.convolution import MODEL_TYPE
from masker.modeling.devices import resolve_device
from masker.modeling.model_folder import MANIFEST, load_manifest
from masker.registry import METHODS

#: Labels that an error message lists before it stops.
_SHOWN = 6

Advance = Callable[[int], None]
#: Called with the (B, T) attention of the document token and the (B,) rows of a batch.
AttentionVisitor = Callable[[torch.Tensor, npt.NDArray[np.int64]], None]


@dataclass(frozen=True)
class AuditedModel:
    """A classifier under audit."""

    classifier: Any  # a transformers sequence classifier with at least two outputs
    tokenizer: Any  # fast
    classes: list[str]  # names of the outputs, in order
    max_length: int  # longest row in tokens
    name: str  # what reports call the model
    pairs: bool | None = None  # whether it was trained on text pairs; None if unknown
    device: str = "auto"  # or cpu, cuda, cuda:N, mps

    @property
    def head(self) -> Head:
        """How transformers reads the outputs: one sigmoid each for multi-label models, a softmax otherwise."""
        multi_label = self.classifier.config.problem_type == "multi_label_classification"
        return "one-vs-rest" if multi_label else "multi-class"

    @property
    def has_document_token(self) -> bool:
        """Whether a document token attends to the words: true for encoders, false for decoders and convolutions."""
        return self.tokenizer.mask_token_id is not None and self.classifier.config.model_type != MODEL_TYPE

    @cached_property
    def _backend(self) -> TorchBackend:
        return TorchBackend(self.classifier, self.tokenizer, self.device)

    def probabilities(self, encoded: Encoded, advance: Advance | None = None) -> npt.NDArray[np.float64]:
        """(N, C) class probabilities for rows of tokens."""
        logits = self._backend.predict_logits(encoded, advance)
        if not np.isfinite(logits).all():
            raise ModelError(f"model '{self.name}' returns NaN or infinite outputs; it cannot be audited")
        return class_probabilities(logits, self.head)

    def visit_attention(self, encoded: Encoded, visit: AttentionVisitor, advance: Advance | None = None) -> None:
        """Call ``visit(attention, rows)`` for every batch; last layer, averaged over heads."""
        classifier = self._backend.classifier
        visit_attention(
            classifier, self.tokenizer, encoded, lambda _, attention, __, rows: visit(attention, rows), advance
        )


def as_audited(
    classifier: Any,
    tokenizer: Any,
    *,
    labels: Sequence[str] | None = None,
    max_length: int | None = None,
    name: str = "model",
    device: str = "auto",
) -> AuditedModel:
    """Check that a classifier can be audited, and wrap it.

    Raises:
        ModelError: When the model is not a classifier, or its tokenizer is not fast or cannot pad.
        DataError: When ``labels`` do not name the outputs.
        ConfigError: When there is no such device.
    """
    config = classifier.config
    if int(config.num_labels) < 2 or config.problem_type == "regression":
        raise ModelError(
            f"model '{name}' predicts a score ({config.num_labels} output), not classes; audit a classifier"
        )
    if not tokenizer.is_fast:
        raise ModelError(f"the tokenizer of '{name}' is not a fast one (no tokenizer.json); convert it first")
    if tokenizer.pad_token_id is None:
        raise ModelError(
            f"the tokenizer of '{name}' has no padding token; set the one used in training and save the tokenizer"
        )
    resolve_device(device)  # refuses an unknown device before any work
    wanted = ModelSettings().max_length if max_length is None else max_length
    length = encoder_length(wanted, tokenizer, classifier)
    return AuditedModel(classifier, tokenizer, output_names(config, labels), length, name, device=device)


def open_audited_model(
    source: str, *, labels: Sequence[str] | None = None, max_length: int | None = None, device: str = "auto"
) -> AuditedModel:
    """Open a masker model folder, a transformers folder or a hub model; never runs code from the model.

    Args:
        source: Folder or hub id.
        labels: Names of the outputs, in order; ``None`` takes those in the model's configuration.
        max_length: Tokens read of a document; ``None`` takes what a masker model was trained with, or 256.

    Raises:
        ModelError: When there is no such model, or it has no trained classification head.
    """
    folder, pairs = Path(source).expanduser(), None
    if folder.is_dir():
        source = str(folder)
        if (folder / MANIFEST).is_file():
            manifest = load_manifest(folder).manifest
            method = manifest.get("settings", {}).get("training", {}).get("method")
            # The method of a plug-in that is no longer installed is unknown; transformers may still open the model.
            if method in METHODS and not METHODS.get(method).fine_tuned:
                raise ModelError(
                    f"model '{source}' (method {method}) has no network to audit; audit a fine-tuned model, "
                    "such as one trained with --method vanilla"
                )
            max_length, pairs = max_length or manifest.get("max_length"), manifest.get("pairs")
    tokenizer, classifier = _load(source, folder.is_dir())
    name = folder.resolve().name if folder.is_dir() else source
    opened = as_audited(classifier, tokenizer, labels=labels, max_length=max_length, name=name, device=device)
    return replace(opened, pairs=pairs)


def _load(source: str, is_folder: bool) -> tuple[Any, Any]:
    """The tokenizer and the classifier, whose head must be trained."""
    try:
        tokenizer = load_tokenizer(source)
        classifier, loading = load_classifier(source, output_loading_info=True)
    except ModelError as error:
        if is_folder:
            raise
        reason = str(error).rpartition("(")[2].rstrip(")")
        raise ModelError(
            f"'{source}' is neither a model folder nor a model on the hub; check the name and the network ({reason})"
        ) from None
    base = f"{classifier.base_model_prefix}."
    new = sorted(key for key in loading["missing_keys"] if not key.startswith(base))
    if new:
        raise ModelError(
            f"model '{source}' has no trained classification head (missing: {', '.join(new[:3])}); fine-tune it first, "
            "for example with 'masker train'"
        )
    return tokenizer, classifier


def output_names(config: Any, names: Sequence[str] | None = None) -> list[str]:
    """The names of a model's outputs, in order: the given distinct ones, or those in its configuration."""
    count = int(config.num_labels)
    if names is None:
        return [str(config.id2label.get(place, f"LABEL_{place}")) for place in range(count)]
    if len(names) != count or len(set(names)) != count:
        raise DataError(
            f"--labels must give the model's {count} outputs {count} different names; got {', '.join(names)}"
        )
    return list(names)


def label_indices(documents: Documents, names: Sequence[str]) -> npt.NDArray[np.int64]:
    """(N,) the model output that the label of each document stands for.

    Labels are output names, in any case, or output indices if none of them is a name.

    Raises:
        DataError: When a label stands for no output.
    """
    if documents.labels is None:
        raise DataError(f"{documents.name} has no labels; name the column that holds them with --label-column")
    if documents.is_multi_label:
        raise DataError(f"{documents.name} has lists of labels, and an audit takes one class for each text; name a "
                        "column with one in --label-column")  # fmt: skip
    labels = [class_name(label) for label in documents.labels]
    known, by_lower_case = set(names), {name.lower(): name for name in names}
    # Outputs whose names differ only in case need an exact match.
    if len(by_lower_case) == len(names):
        labels = [label if label in known else by_lower_case.get(label.lower(), label) for label in labels]
    unknown = sorted(set(labels) - known)
    if not unknown:
        return class_indices(labels, names)
    if len(unknown) == len(set(labels)) and all(label.isdecimal() and int(label) < len(names) for label in unknown):
        return np.array([int(label) for label in labels], dtype=np.int64)
    raise DataError(
        f"{documents.name}: {'labels' if len(unknown) > 1 else 'label'} {_listed(unknown)} "
        f"{'are' if len(unknown) > 1 else 'is'} not among the model's outputs ({_listed(names)}); name the outputs in "
        "order with --labels, choose another --label-column, or select rows with --where"
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name[:40]}'" for name in names[:_SHOWN])
    return shown + (", …" if len(names) > _SHOWN else "")
