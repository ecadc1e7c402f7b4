"""A training run: documents, settings and a work folder in, a backend out.

A method (:mod:`masker.training.methods`) is a few calls on this object. Every stage leaves its result in the work
folder, so an interrupted run resumes and ends with the same result as one that was never interrupted.
"""

from __future__ import annotations

import json
import logging
import platform
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file

from masker import distributed
from masker.config import Settings
from masker.documents import Documents
from masker.errors import ConfigError
from masker.files import write_text
from masker.inference.linear_backend import (
    EncoderVectorizer,
    LinearBackend,
    TfIdfVectorizer,
    Vectorizer,
)
from masker.inference.outputs import Outputs
from masker.inference.torch_backend import TOKEN_HEAD, TorchBackend
from masker.inference.windows import document_labels, document_outputs, pool_outputs
from masker.keywords import KeywordSet
from masker.masking.keywords_only import keywords_only
from masker.metrics import accuracy
from masker.modeling.backbone import load_backbone
from masker.modeling.convolution import convolution_on
from masker.modeling.devices import resolve_device
from masker.modeling.network import MaskerNetwork
from masker.modeling.tensors import write_tensors
from masker.modeling.tokens import content_special_ids
from masker.progress import progress_bar
from masker.training.keyword_stage import choose_keywords, load_attention_model
from masker.training.training_data import TrainingData, encode_training_data
from masker.training.training_stage import TrainingStage, train_stage

_log = logging.getLogger("masker")


class TrainingRun:
    """What a method trains with.

    Args:
        documents: Labelled documents.
        classes: Class names in the order of the outputs; empty for a regression.
        settings: All settings.
        work: Folder for checkpoints and results of stages.
        device: Where to train.

    Attributes:
        tokenizer: The backbone's tokenizer.
        max_length: Longest row in tokens.
        data: The encoded documents.
        keywords: The keyword set, once :meth:`find_keywords` has chosen it.
        validation: Accuracy (or Pearson correlation) of the last stage on the validation documents.
        train_outputs: Outputs of the training documents, where training has computed them anyway.
    """

    def __init__(
        self, documents: Documents, classes: Sequence[str], settings: Settings, work: Path, device: str = "auto"
    ) -> None:
        distributed.first_only(lambda: work.mkdir(parents=True, exist_ok=True))
        distributed.together(lambda: _check_shared(work))
        self.settings, self.classes, self.work = settings, list(classes), work
        self.device = resolve_device(device)
        # Only the tokenizer and the length are used: every stage starts from a fresh encoder.
        backbone = distributed.together(lambda: load_backbone(settings.model, self.classes))
        self.tokenizer, self.max_length = backbone.tokenizer, backbone.max_length
        self.data: TrainingData = encode_training_data(documents, classes, settings, self.tokenizer, self.max_length)
        self.keywords: KeywordSet | None = None
        self.validation: dict[str, float] = {}
        self.train_outputs: Outputs | None = None

    def fresh_classifier(self) -> Any:
        """The pre-trained encoder with a new head; every stage starts alike, whatever ran before it."""
        from transformers import set_seed

        set_seed(self.settings.training.seed)
        return distributed.together(lambda: load_backbone(self.settings.model, self.classes).classifier)

    # Networks -------------------------------------------------------------------------------------------------------

    def fit_network(
        self,
        keywords: KeywordSet | None = None,
        bias_logits: npt.NDArray[np.float32] | None = None,
        classifier: Any = None,
    ) -> TorchBackend:
        """Train the final network.

        Args:
            keywords: Adds the masked views and their losses.
            bias_logits: Trains the residual of a biased model with these (N, C) outputs.
            classifier: What to train; ``None`` is the pre-trained encoder with a new head.
        """
        stage = TrainingStage(
            self.settings.training.method, self.settings.epochs, keywords, bias_logits, self.settings.averaged_share
        )
        network = self._train(stage, self.fresh_classifier() if classifier is None else classifier)
        head = {} if network.token_head is None else network.token_head.state_dict()
        tensors = {TOKEN_HEAD + name: tensor.cpu() for name, tensor in head.items()}
        return TorchBackend(network.classifier, self.tokenizer, str(self.device), tensors=tensors)

    def fit_convolution(self) -> TorchBackend:
        """Train DOC's convolutional network on the word vectors of the encoder."""
        shape = self.settings.baselines
        encoder = self.fresh_classifier()
        network = convolution_on(encoder, filters=shape.doc_filters, hidden=shape.doc_hidden, dropout=shape.doc_dropout)
        return self.fit_network(classifier=network)

    def _train(self, stage: TrainingStage, classifier: Any, data: TrainingData | None = None) -> MaskerNetwork:
        network, self.validation = train_stage(
            stage, classifier, self.tokenizer, data or self.data, self.settings, self.work / stage.name, self.device
        )
        return network

    def fit_linear(self, features: str) -> LinearBackend:
        """Fit a logistic regression on fixed vectors: ``encoder`` (mean hidden states) or ``tf-idf``."""
        classifier = self.fresh_classifier()
        train, validation = self.data.train, self.data.validation
        vectorizer: Vectorizer
        if features == "encoder":
            vectorizer = EncoderVectorizer(classifier.base_model.to(self.device), self.tokenizer)
        else:
            vectorizer = TfIdfVectorizer.fit(train, len(self.tokenizer), classifier.config)
        with progress_bar(len(train), "features", "doc") as bar:
            vectors = vectorizer(train, bar.update)
        assert train.labels is not None
        balanced = self.settings.loss.class_weights == "balanced"
        backend = LinearBackend.fit(vectorizer, vectors, train.labels, balanced=balanced)
        pooling = self.settings.model.window_pooling
        self.train_outputs = pool_outputs(backend.outputs_of(vectors), train.document, pooling)
        predicted = document_outputs(backend, validation, pooling).logits.argmax(axis=1)
        self.validation = {"accuracy": accuracy(document_labels(validation), predicted)}
        return backend

    # Stages on the way ----------------------------------------------------------------------------------------------

    def find_keywords(self) -> KeywordSet:
        """Choose the keywords, or read back those of an interrupted run."""
        path = self.work / "keywords.json"
        stored = distributed.first_only(lambda: path.read_text(encoding="utf-8") if path.is_file() else None)
        if stored is None:
            chosen = choose_keywords(
                self.settings, self.tokenizer, self.data.train, len(self.classes), self._attention_classifier
            )
            _log.info("keywords (%s): %s", chosen.source, ", ".join(chosen.words[:20]))
            distributed.first_only(lambda: write_text(path, chosen.dumps()))
            stored = distributed.broadcast(chosen.dumps())
        self.keywords = KeywordSet.from_json(json.loads(stored))
        return self.keywords

    def _attention_classifier(self) -> Any:
        """The model that the settings name, or a vanilla stage."""
        folder = self.settings.keywords.attention_model
        if folder is not None:
            return distributed.together(lambda: load_attention_model(folder, self.device))
        stage = TrainingStage("vanilla", self.settings.vanilla_stage_epochs)
        return self._train(stage, self.fresh_classifier()).classifier

    def bias_logits(self, keywords: KeywordSet) -> npt.NDArray[np.float32]:
        """(N, C) outputs of a biased model, trained on documents reduced to their keywords."""
        path = self.work / "bias.safetensors"
        if distributed.first_only(path.is_file):
            stored: npt.NDArray[np.float32] = load_file(path)["logits"].numpy()
            return stored
        special = sorted(content_special_ids(self.tokenizer))
        reduced = replace(
            self.data,
            train=keywords_only(self.data.train, keywords, special),
            validation=keywords_only(self.data.validation, keywords, special),
        )
        biased = self._train(TrainingStage("biased", self.settings.epochs), self.fresh_classifier(), reduced)
        _log.info("keywords alone reach a validation accuracy of %.3f", self.validation["accuracy"])
        logits = TorchBackend(biased.classifier, self.tokenizer, str(self.device)).predict_logits(reduced.train)
        # All processes of a distributed run have the same logits.
        distributed.first_only(lambda: write_tensors({"logits": torch.from_numpy(logits)}, path))
        return logits


def _check_shared(work: Path) -> None:
    if not work.is_dir():
        raise ConfigError(
            f"'{work}' does not exist on machine {platform.node()}; all machines of a run need the same storage under "
            "the same path"
        )
