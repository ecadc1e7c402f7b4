"""Every system from one place: what it is trained to, and how it is opened again.

A system is a scorer, which turns documents into logits and features, and a detector, which turns these into a decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from masker.config import LINEAR_METHODS, Settings
from masker.detection.detector import Detector
from masker.detection.fitting import DetectorFitter, document_labels
from masker.documents import Documents
from masker.errors import ConfigError
from masker.inference.backend import Scorer, TorchScorer, document_outputs, open_scorer, pool_outputs
from masker.inference.linear_backend import VECTORS, EncoderFeatures, Features, LinearScorer, TfIdfFeatures
from masker.inference.outputs import Outputs
from masker.inference.packed_linear import pack_linears
from masker.keywords import KeywordSet
from masker.metrics import accuracy
from masker.modeling.backbone import load_backbone, load_encoder, load_tokenizer
from masker.modeling.model_folder import ModelFolder
from masker.progress import progress_bar

if TYPE_CHECKING:
    from masker.training.training_data import Corpus

_TOKEN_HEAD = "token_head."


@dataclass(frozen=True)
class System:
    """A trained or opened system.

    Attributes:
        tokenizer: Of the backbone.
        max_length: Longest row in tokens.
        scorer: Documents to logits and features.
        detector: Logits and features to confidence, score and decision; ``None`` for a regression.
        tensors: What belongs to the model beside these two: the token head of MASKER.
        keywords: Those it was trained with.
        validation_metric: Accuracy (or Pearson correlation) on the validation documents.
    """

    tokenizer: Any
    max_length: int
    scorer: Scorer
    detector: Detector | None
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)
    keywords: KeywordSet | None = None
    validation_metric: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class _Engine:
    """A system before its detector is fitted."""

    tokenizer: Any
    max_length: int
    scorer: Scorer
    corpus: Corpus
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)
    keywords: KeywordSet | None = None
    validation_metric: dict[str, float] = field(default_factory=dict)
    train_outputs: Outputs | None = None


def fit_system(documents: Documents, classes: Sequence[str], settings: Settings, work: Path) -> System:
    """Train the system that ``settings.training.method`` names.

    Args:
        documents: Labelled documents.
        classes: Class names in the order of the outputs; empty for regression.
        settings: All settings.
        work: Folder that keeps what an interrupted run needs to go on.
    """
    fit_engine = _fit_linear if settings.training.method in LINEAR_METHODS else _fit_network
    engine = fit_engine(documents, classes, settings, work)
    detector = None
    if classes:
        corpus = engine.corpus
        fitter = DetectorFitter(engine.scorer, engine.tokenizer, engine.keywords, settings)
        detector = fitter.fit(corpus.train, corpus.validation, corpus.calibration, engine.train_outputs)
    return System(
        engine.tokenizer,
        engine.max_length,
        engine.scorer,
        detector,
        engine.tensors,
        engine.keywords,
        engine.validation_metric,
    )


def open_system(path: str | Path, stored: ModelFolder, settings: Settings, backend: str | None = None) -> System:
    """Open the system of a model folder.

    Args:
        path: The folder.
        stored: Its ``masker.json`` and ``masker.safetensors``.
        settings: The settings in it.
        backend: What runs the network; see :func:`masker.inference.backend.open_scorer`.
    """
    tokenizer = load_tokenizer(str(path))
    detector = None
    if settings.model.head != "regression":
        arrays = {name: tensor.numpy() for name, tensor in stored.tensors.items()}
        detector = Detector.from_stored(stored.manifest, arrays, settings)
    scorer: Scorer
    if settings.training.method in LINEAR_METHODS:
        scorer = _open_linear(path, stored, settings, tokenizer, backend)
    else:
        scorer = open_scorer(path, tokenizer, backend)
    rest = {name: tensor for name, tensor in stored.tensors.items() if name.startswith(_TOKEN_HEAD)}
    return System(tokenizer, stored.manifest["max_length"], scorer, detector, rest)


def detector_tensors(detector: Detector) -> dict[str, torch.Tensor]:
    """What a detector knows, as ``masker.safetensors`` holds it."""
    return {name: torch.from_numpy(np.array(array)) for name, array in detector.to_arrays().items()}


def _fit_network(documents: Documents, classes: Sequence[str], settings: Settings, work: Path) -> _Engine:
    from masker.training.stages import train_method

    trained = train_method(documents, classes, settings, work)
    tensors: dict[str, torch.Tensor] = {}
    if trained.network.token_head is not None:
        state = trained.network.token_head.state_dict()
        tensors = {_TOKEN_HEAD + name: tensor.cpu() for name, tensor in state.items()}
    return _Engine(
        trained.backbone.tokenizer,
        trained.backbone.max_length,
        TorchScorer(trained.network.classifier, trained.backbone.tokenizer),
        trained.corpus,
        tensors,
        trained.keywords,
        trained.validation_metric,
    )


def _fit_linear(documents: Documents, classes: Sequence[str], settings: Settings, work: Path) -> _Engine:
    from masker.training.training_data import encode_corpus

    backbone = load_backbone(settings.model, classes)
    corpus = encode_corpus(documents, classes, settings, backbone)
    tokenizer, train = backbone.tokenizer, corpus.train
    assert train.labels is not None
    features: Features
    if reads_encoder(settings):
        features = EncoderFeatures(backbone.classifier.base_model, tokenizer)
    else:
        features = TfIdfFeatures.fit(train.input_ids, len(tokenizer), backbone.classifier.config)
    with progress_bar(len(train), "features", "doc") as bar:
        vectors = features(train, bar.update)
    scorer = LinearScorer.fit(features, vectors, train.labels, balanced=settings.loss.class_weights == "balanced")
    pooling = settings.model.window_pooling
    outputs = pool_outputs(Outputs(scorer.logits(vectors), {VECTORS: vectors}), train.document, pooling)
    predicted = document_outputs(scorer, corpus.validation, pooling).logits.argmax(axis=1)
    metric = {"accuracy": accuracy(document_labels(corpus.validation), predicted)}
    return _Engine(tokenizer, backbone.max_length, scorer, corpus, validation_metric=metric, train_outputs=outputs)


def reads_encoder(settings: Settings) -> bool:
    """Whether the vectors of a linear method are frozen features of the encoder, or else TF-IDF."""
    return settings.training.method == "linear" or settings.baselines.ocsvm_features == "encoder"


def _open_linear(
    path: str | Path, stored: ModelFolder, settings: Settings, tokenizer: Any, backend: str | None
) -> LinearScorer:
    possible = ("torch", "torch-bf16") if reads_encoder(settings) else ("torch",)
    if backend not in (None, *possible):
        method = settings.training.method
        raise ConfigError(f"a model of method {method} has no network that backend '{backend}' could run; leave it out")
    arrays = {name: tensor.numpy() for name, tensor in stored.tensors.items()}
    features: Features
    if reads_encoder(settings):
        encoder = load_encoder(str(path))
        if backend == "torch-bf16":
            encoder = encoder.bfloat16()
            pack_linears(encoder)
        features = EncoderFeatures(encoder, tokenizer)
    else:
        from transformers import AutoConfig

        features = TfIdfFeatures(arrays["features.idf"], AutoConfig.from_pretrained(str(path)))
    return LinearScorer(features, arrays["linear.weight"], arrays["linear.bias"])
