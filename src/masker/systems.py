"""Every system from one place: what it is trained to, and how it is opened again.

A system is a scorer, which turns documents into logits and features, and a score, which turns these into one number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from masker.baselines.features import EncoderFeatures, Features, LinearScorer, TfIdfFeatures
from masker.config import Settings
from masker.data import Documents
from masker.data.encoding import Encoded
from masker.errors import ConfigError
from masker.keywords import KeywordSet
from masker.metrics import accuracy
from masker.modeling.backbone import load_backbone, load_encoder, load_tokenizer
from masker.modeling.checkpoint import ModelFolder
from masker.modeling.scorer import Outputs, Scorer, TorchScorer, document_outputs, open_scorer, pool_outputs
from masker.progress import progress_bar
from masker.scoring.score import Score
from masker.scoring.scores import METHOD_SCORES, find_score

_SCORE = "score."


@dataclass(frozen=True)
class System:
    """A trained or opened system.

    Attributes:
        tokenizer: Of the backbone.
        max_length: Longest row in tokens.
        scorer: Documents to logits and features.
        score: Logits and features to the out-of-distribution score.
        tensors: What belongs to the model beside these two: the token head of MASKER.
        keywords: Those it was trained with.
        validation_metric: Accuracy (or Pearson correlation) on the validation documents.
        validation_scores: (N,) scores of the validation documents; ``None`` for a regression.
    """

    tokenizer: Any
    max_length: int
    scorer: Scorer
    score: Score
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)
    keywords: KeywordSet | None = None
    validation_metric: dict[str, float] = field(default_factory=dict)
    validation_scores: npt.NDArray[np.float64] | None = None


@dataclass(frozen=True)
class _Engine:
    """A system before its score is fitted."""

    tokenizer: Any
    max_length: int
    scorer: Scorer
    train: Encoded
    validation: Encoded
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
    fit_engine = _fit_linear if settings.training.method == "ocsvm" else _fit_network
    engine = fit_engine(documents, classes, settings, work)
    kind = METHOD_SCORES[settings.training.method]
    pooling = settings.model.window_pooling
    outputs, labels = None, np.empty(0, dtype=np.int64)
    if kind.learns:
        labels = _document_labels(engine.train)
        outputs = engine.train_outputs
        if outputs is None:
            with progress_bar(len(engine.train), "statistics", "doc") as bar:
                outputs = document_outputs(
                    engine.scorer, engine.train, pooling, bar.update, features=kind.reads_features
                )
    score = kind.fit(outputs, labels, settings)
    metric, scores = engine.validation_metric, None
    if classes:
        held_out = document_outputs(engine.scorer, engine.validation, pooling, features=kind.reads_features)
        scores = score.ood_score(held_out)
        if not metric:
            metric = {"accuracy": accuracy(_document_labels(engine.validation), held_out.logits.argmax(axis=1))}
    return System(
        engine.tokenizer, engine.max_length, engine.scorer, score, engine.tensors, engine.keywords, metric, scores
    )


def open_system(path: str | Path, stored: ModelFolder, settings: Settings, backend: str | None = None) -> System:
    """Open the system of a model folder.

    Args:
        path: The folder.
        stored: Its ``masker.json`` and ``masker.safetensors``.
        settings: The settings in it.
        backend: What runs the network; see :func:`masker.modeling.scorer.open_scorer`.
    """
    tokenizer = load_tokenizer(str(path))
    statistics = {
        name.removeprefix(_SCORE): tensor.numpy() for name, tensor in stored.tensors.items() if name.startswith(_SCORE)
    }
    score = find_score(stored.manifest["score"]).from_statistics(statistics, settings)
    scorer: Scorer
    if settings.training.method == "ocsvm":
        scorer = _open_linear(path, stored, settings, tokenizer, backend)
    else:
        scorer = open_scorer(path, tokenizer, backend)
    return System(tokenizer, stored.manifest["max_length"], scorer, score)


def score_tensors(score: Score) -> dict[str, torch.Tensor]:
    """The statistics of a score as ``masker.safetensors`` holds them."""
    return {_SCORE + name: torch.from_numpy(np.array(array)) for name, array in score.statistics().items()}


def _fit_network(documents: Documents, classes: Sequence[str], settings: Settings, work: Path) -> _Engine:
    from masker.training.methods import train_method

    trained = train_method(documents, classes, settings, work)
    tensors: dict[str, torch.Tensor] = {}
    if trained.network.token_head is not None:
        state = trained.network.token_head.state_dict()
        tensors = {f"token_head.{name}": tensor.cpu() for name, tensor in state.items()}
    return _Engine(
        trained.backbone.tokenizer,
        trained.backbone.max_length,
        TorchScorer(trained.network.classifier, trained.backbone.tokenizer),
        trained.corpus.train,
        trained.corpus.validation,
        tensors,
        trained.keywords,
        trained.validation_metric,
    )


def _fit_linear(documents: Documents, classes: Sequence[str], settings: Settings, work: Path) -> _Engine:
    from masker.training.methods import encode_corpus

    backbone = load_backbone(settings.model, classes)
    corpus = encode_corpus(documents, classes, settings, backbone)
    tokenizer, train = backbone.tokenizer, corpus.train
    assert train.labels is not None
    features: Features
    if settings.baselines.ocsvm_features == "encoder":
        features = EncoderFeatures(backbone.classifier.base_model, tokenizer)
    else:
        features = TfIdfFeatures.fit(train.input_ids, len(tokenizer), backbone.classifier.config)
    with progress_bar(len(train), "features", "doc") as bar:
        vectors = features(train, bar.update)
    scorer = LinearScorer.fit(features, vectors, train.labels, balanced=settings.loss.class_weights == "balanced")
    outputs = pool_outputs(Outputs(scorer.logits(vectors), vectors), train.document, settings.model.window_pooling)
    return _Engine(tokenizer, backbone.max_length, scorer, train, corpus.validation, train_outputs=outputs)


def _open_linear(
    path: str | Path, stored: ModelFolder, settings: Settings, tokenizer: Any, backend: str | None
) -> LinearScorer:
    if backend not in (None, "torch"):
        raise ConfigError(f"a model of method ocsvm has no network that backend '{backend}' could run; leave it out")
    arrays = {name: tensor.numpy() for name, tensor in stored.tensors.items()}
    features: Features
    if settings.baselines.ocsvm_features == "encoder":
        features = EncoderFeatures(load_encoder(str(path)), tokenizer)
    else:
        from transformers import AutoConfig

        features = TfIdfFeatures(arrays["features.idf"], AutoConfig.from_pretrained(str(path)))
    return LinearScorer(features, arrays["linear.weight"], arrays["linear.bias"])


def _document_labels(encoded: Encoded) -> npt.NDArray[np.int64]:
    """The class of each document, whatever the number of its windows."""
    assert encoded.labels is not None
    _, first = np.unique(encoded.document, return_index=True)
    return np.asarray(encoded.labels[first], dtype=np.int64)
