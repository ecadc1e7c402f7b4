"""Choosing what the head reads: the document token, or the mean of all tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from masker.config import Head, Settings
from masker.documents.encoding import Encoded
from masker.documents.folds import stratified_folds
from masker.inference.torch_backend import head_inputs
from masker.inference.windows import single_labels
from masker.modeling.backbone import Backbone, load_backbone, resolve_backbone
from masker.modeling.heads import output_layer
from masker.modeling.pooling import (
    DOCUMENT_TOKEN,
    MEAN,
    can_pool_mean,
    declared_pooling,
    pass_document_token_through,
    pooling_of,
)
from masker.training.probe import STRENGTH, cross_entropy, fit_probe, out_of_fold_logits

#: Rows that suffice to compare two poolings.
COMPARED = 1000
_FOLDS = 3


class Pooling(NamedTuple):
    """What the head reads, and why."""

    name: str
    reason: str


def choose_pooling(
    settings: Settings, classes: Sequence[str], train: Encoded, backbone: Backbone, device: torch.device
) -> Pooling:
    """Resolve ``model.pooling``.

    ``auto`` takes what a sentence encoder declares. For others, probes on both poolings are compared on left-out folds.
    ``backbone`` is what the settings open; with ``auto``, it reads the document token.
    """
    wanted = settings.model.pooling
    if wanted != "auto":
        return Pooling(wanted, "as set")
    if not settings.starts_from_probe:
        return Pooling(DOCUMENT_TOKEN, "for a new head")
    plain = backbone.classifier
    if pooling_of(plain.config) == MEAN:
        return Pooling(MEAN, "the backbone has it built in")
    if not can_pool_mean(plain.config) or output_layer(plain) is None:
        return Pooling(DOCUMENT_TOKEN, f"{plain.config.model_type} has no mean")
    declared = declared_pooling(resolve_backbone(settings.model.backbone))
    if declared is not None:
        return Pooling(declared, "the encoder was trained for it")
    pass_document_token_through(plain)
    mean = load_backbone(settings.model.model_copy(update={"pooling": MEAN}), classes).classifier
    rows = np.random.default_rng(settings.training.seed).permutation(len(train))[:COMPARED]
    part = train.take(np.sort(rows).tolist())
    errors = {
        name: _held_out_error(
            head_inputs(classifier, backbone.tokenizer, part, str(device)), part, len(classes), settings
        )
        for name, classifier in ((MEAN, mean), (DOCUMENT_TOKEN, plain))
    }
    best = min(errors, key=lambda name: errors[name])
    figures = ", ".join(f"{name} {error:.3f}" for name, error in errors.items())
    return Pooling(best, f"held-out loss of a probe: {figures}")


def _held_out_error(vectors: Any, encoded: Encoded, n_classes: int, settings: Settings) -> float:
    """Cross-entropy, or mean squared error of a regression, on left-out folds."""
    assert encoded.labels is not None
    # Poolings differ in the length of their vectors, which the strength of a probe depends on.
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(min=1e-12)
    labels, seed = encoded.labels, settings.training.seed
    if settings.model.head == "regression":
        folds = np.arange(len(labels)) % _FOLDS
        errors = []
        for fold in range(_FOLDS):
            inside = folds == fold
            probe = fit_probe(vectors[~inside], labels[~inside], 1, head="regression")
            errors.append((probe(vectors[inside])[:, 0] - labels[inside]) ** 2)
        return float(np.concatenate(errors).mean())
    folds = stratified_folds(single_labels(labels).tolist(), _FOLDS, seed)
    # A 1-vs-rest head is compared as the softmax that it comes close to.
    head: Head = "multi-label" if labels.ndim == 2 else "multi-class"
    return cross_entropy(out_of_fold_logits(vectors, labels, n_classes, folds, head=head, strength=STRENGTH), labels)
