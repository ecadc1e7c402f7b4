"""The audited model: any sequence classifier of transformers with its tokenizer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.audit.views import ViewRows
from masker.config import LINEAR_METHODS, Head, ModelSettings
from masker.detection.scores.max_probability import class_probabilities
from masker.errors import ModelError
from masker.inference.backend import TorchScorer
from masker.modeling.backbone import encoder_length, load_classifier, load_tokenizer
from masker.modeling.model_folder import MANIFEST, load_manifest

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class AuditedModel:
    """A classifier, its tokenizer, and how much of a text it reads.

    Attributes:
        classifier: A sequence classifier of transformers with at least two outputs.
        tokenizer: Its fast tokenizer.
        max_length: Longest row in tokens.
        name: What to call it.
        pairs: Whether it was trained on pairs of texts, where that is known.
    """

    classifier: Any
    tokenizer: Any
    max_length: int
    name: str
    pairs: bool | None = None

    @property
    def head(self) -> Head:
        """What transformers makes of the outputs: a sigmoid each for multi-label models, else their softmax."""
        multi_label = self.classifier.config.problem_type == "multi_label_classification"
        return "one-vs-rest" if multi_label else "multi-class"

    def probabilities(self, rows: ViewRows, advance: Callable[[int], None] | None = None) -> Floats:
        """(N, C) probabilities of the classes for rows of tokens."""
        has_types = "token_type_ids" in self.tokenizer.model_input_names
        scorer = TorchScorer(self.classifier, self.tokenizer)
        logits = scorer.predict_logits(rows.encoded(has_types=has_types), advance)
        if not np.isfinite(logits).all():
            raise ModelError(f"model '{self.name}' gives outputs that are no numbers; it cannot be audited")
        return class_probabilities(logits, self.head)


def as_audited(classifier: Any, tokenizer: Any, *, max_length: int | None = None, name: str = "model") -> AuditedModel:
    """Check that a classifier and its tokenizer can be audited.

    Raises:
        ModelError: When the model has no classes, or the tokenizer cannot tell where its tokens stand or cannot pad.
    """
    config = classifier.config
    if int(config.num_labels) < 2 or config.problem_type == "regression":
        raise ModelError(f"model '{name}' gives a score ({config.num_labels} output), not classes; audit a classifier")
    if not tokenizer.is_fast:
        raise ModelError(f"the tokenizer of '{name}' has no fast form (tokenizer.json); convert it first")
    if tokenizer.pad_token_id is None:
        raise ModelError(f"the tokenizer of '{name}' has no padding token; set one, as in its training, and save it")
    wanted = ModelSettings().max_length if max_length is None else max_length
    return AuditedModel(classifier, tokenizer, encoder_length(wanted, tokenizer, classifier), name)


def open_model(source: str, max_length: int | None = None) -> AuditedModel:
    """Open a model folder of ours, a folder of transformers, or a model of the hub; no code of theirs is run.

    Args:
        source: Folder or hub id.
        max_length: Tokens of a document that are read; ``None`` takes what a model of ours was trained with, or 256.

    Raises:
        ModelError: When there is no such model, or it is no classifier with a trained head.
    """
    folder, pairs = Path(source).expanduser(), None
    if folder.is_dir():
        source = str(folder)
        if (folder / MANIFEST).is_file():
            manifest = load_manifest(folder).manifest
            method = manifest.get("settings", {}).get("training", {}).get("method")
            if method in LINEAR_METHODS:
                raise ModelError(f"model '{source}' (method {method}) has no network that could be audited")
            max_length, pairs = max_length or manifest.get("max_length"), manifest.get("pairs")
    try:
        tokenizer = load_tokenizer(source)
        classifier, loading = load_classifier(source, output_loading_info=True)
    except ModelError as error:
        if folder.is_dir():
            raise
        reason = str(error).rpartition("(")[2].rstrip(")")
        raise ModelError(
            f"'{source}' is no model folder and no model that the hub gave us; check name and network ({reason})"
        ) from None
    base = f"{classifier.base_model_prefix}."
    new = sorted(key for key in loading["missing_keys"] if not key.startswith(base))
    if new:
        raise ModelError(f"model '{source}' has no trained classification head ({', '.join(new[:3])} are missing); "
                         "fine-tune it first, for example with 'masker train'")  # fmt: skip
    name = folder.resolve().name if folder.is_dir() else source
    return replace(as_audited(classifier, tokenizer, max_length=max_length, name=name), pairs=pairs)
