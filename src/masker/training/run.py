"""A training run: documents, settings and a work folder in, a backend out.

A method (:mod:`masker.training.methods`) is a few calls on this object. Every stage leaves its result in the work
folder, so an interrupted run resumes and ends with the same result as one that was never interrupted.
"""

from __future__ import annotations

import copy
import json
import logging
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from masker import distributed
from masker.config import Settings
from masker.documents import Documents
from masker.documents.encoding import Encoded
from masker.errors import ConfigError
from masker.files import write_text
from masker.inference.backend import TOKEN_HEAD
from masker.inference.linear_backend import LinearBackend
from masker.inference.outputs import Outputs
from masker.inference.torch_backend import TorchBackend, head_inputs
from masker.inference.windows import document_labels, document_outputs, pool_outputs
from masker.keywords import KeywordSet
from masker.modeling.backbone import load_backbone
from masker.modeling.convolution import convolution_on
from masker.modeling.devices import resolve_device
from masker.modeling.heads import output_layer, set_output_layer
from masker.modeling.network import MaskerNetwork, encoder_stack
from masker.modeling.pooling import hand_on_document_token
from masker.training.biased_model import train_biased_model
from masker.training.keyword_stage import choose_keywords, load_attention_model
from masker.training.linear_classifier import fit_linear_classifier
from masker.training.loss_curve import Curve, read_loss_curves
from masker.training.pooling_choice import choose_pooling
from masker.training.probe import LinearMap
from masker.training.run_probes import RunProbes
from masker.training.schedule import Schedule, final_schedule, keyword_schedule
from masker.training.training_data import TrainingData, encode_training_data
from masker.training.training_stage import TrainingStage, train_stage
from masker.training.validation_figure import lost_and_won, validation_figure

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
        layers: Layers of the encoder that can be kept from training.
        data: The encoded documents.
        pooling: What the head reads, and why.
        keywords: The keyword set, once :meth:`find_keywords` has chosen it.
        validation: Accuracy (or micro F1, or Pearson correlation) of the last stage on the validation documents.
        train_outputs: Outputs of the training documents, where training has computed them anyway.
        start_logits: What the probe that the network started from says of the validation documents.
        kept_start: Whether training did not improve on that probe, which is the model then.
    """

    def __init__(
        self, documents: Documents, classes: Sequence[str], settings: Settings, work: Path, device: str = "auto"
    ) -> None:
        distributed.first_only(lambda: work.mkdir(parents=True, exist_ok=True))
        distributed.together(lambda: _check_shared(work))
        self.settings, self.classes, self.work = settings, list(classes), work
        self.device = resolve_device(device)
        # It trains nothing: every stage starts from a fresh encoder.
        backbone = distributed.together(lambda: load_backbone(settings.model, self.classes))
        self.tokenizer, self.max_length = backbone.tokenizer, backbone.max_length
        self.data: TrainingData = encode_training_data(documents, classes, settings, self.tokenizer, self.max_length)
        self.pooling = distributed.together(
            lambda: choose_pooling(settings, self.classes, self.data.train, backbone, self.device)
        )
        self.layers = len(encoder_stack(backbone.classifier))
        self.model_settings = settings.model.model_copy(update={"pooling": self.pooling.name})
        self.keywords: KeywordSet | None = None
        self.probes = RunProbes(settings, len(self.classes), self.data.train)
        self._parent: TrainingRun | None = None
        self.validation: dict[str, float] = {}
        self.train_outputs: Outputs | None = None
        self.start_logits: npt.NDArray[np.float32] | None = None
        self.kept_start = False
        self._start: LinearMap | None = None

    def folds(self) -> Iterator[TrainingRun]:
        """A run without each fold of the documents, which are its validation part. All share their keywords."""
        assert self.data.folds is not None
        for fold in range(int(self.data.folds.max()) + 1):
            part = copy.copy(self)
            part.data, part.work = self.data.without_fold(fold), self.work / f"fold-{fold + 1}"
            part._parent, part.probes = self, self.probes.without((self.data.folds == fold)[self.data.train.document])
            part._start, part.start_logits = None, None
            distributed.first_only(lambda work=part.work: work.mkdir(exist_ok=True))  # type: ignore[misc]
            yield part

    @property
    def has_new_head(self) -> bool | None:
        """Whether training starts from a new head, not from a probe; ``None`` until that is known."""
        return self.probes.explains_little if self.settings.starts_from_probe else True

    @property
    def schedule(self) -> Schedule:
        """The length of the final training."""
        folds = self._parent is not None or self.data.folds is not None
        return final_schedule(self.settings, len(self.data.train), cross_fitted=folds, new_head=bool(self.has_new_head))

    def fresh_classifier(self) -> Any:
        """The pre-trained encoder with a new head; every stage starts alike, whatever ran before it."""
        from transformers import set_seed

        set_seed(self.settings.training.seed)
        return distributed.together(lambda: load_backbone(self.model_settings, self.classes).classifier)

    def start_classifier(self, train: Encoded | None = None) -> Any:
        """The pre-trained encoder, its head started from a probe of the documents if that says enough of them.

        Args:
            train: Documents to probe; ``None`` is the run's training documents.
        """
        if not self.settings.starts_from_probe:
            return self.fresh_classifier().to(self.device)
        classifier = self.probe_classifier(train)
        return self.fresh_classifier().to(self.device) if train is None and self.has_new_head else classifier

    def probe_classifier(self, train: Encoded | None = None) -> Any:
        """The pre-trained encoder with a probe of the documents as its head; a new head if it cannot have one."""
        classifier = self.fresh_classifier().to(self.device)
        if output_layer(classifier) is None:
            return classifier
        hand_on_document_token(classifier)

        def vectors(documents: Encoded) -> Any:
            return head_inputs(classifier, self.tokenizer, documents, str(self.device))

        if train is not None:
            set_output_layer(classifier, *RunProbes(self.settings, len(self.classes), train).fit_start(vectors))
            return classifier
        if self._start is None:
            self._start = self.probes.fit_start(vectors)
        set_output_layer(classifier, *self._start)
        if self.start_logits is None and self.classes and len(self.data.validation):
            self.start_logits = self._held_out_logits(classifier, self._start)
        return classifier

    def _held_out_logits(self, classifier: Any, start: LinearMap) -> npt.NDArray[np.float32]:
        """(N, C) what the network says of the validation documents before training."""
        pooling, held_out = self.settings.model.window_pooling, self.data.validation
        vectors = self.probes.left_out_vectors()
        if vectors is None:
            backend = TorchBackend(classifier, self.tokenizer, str(self.device))
            return document_outputs(backend, held_out, pooling).logits
        return pool_outputs(Outputs(start(vectors).astype(np.float32)), held_out.document, pooling).logits

    def fit_start(self) -> TorchBackend:
        """The network before any training: the encoder, with a head from the probe."""
        classifier = self.probe_classifier() if self.settings.starts_from_probe else self.start_classifier()
        backend = TorchBackend(classifier, self.tokenizer, str(self.device))
        if self.start_logits is not None:
            labels, head = document_labels(self.data.validation), self.settings.model.head
            self.validation = validation_figure(labels, self.start_logits, head)
        return backend

    def keeps_start(self, labels: npt.NDArray[np.int64], trained: Any, start: Any) -> bool:
        """Whether to keep the probe that training started from (:func:`lost_and_won`)."""
        lost, won, self.kept_start = lost_and_won(labels, trained, start, self.settings.model.head)
        if self.kept_start:
            _log.info("training lost %d held-out documents and won %d: keeping the probe it started from", lost, won)
        return self.kept_start

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
            classifier: What to train; ``None`` is :meth:`start_classifier`.
        """
        # First, as what it starts from decides the length.
        classifier = self.start_classifier() if classifier is None else classifier
        stage = TrainingStage(
            self.settings.training.method,
            self.schedule,
            keywords,
            bias_logits,
            self.settings.averaged_share,
            self.settings.loss.lambda_attention > 0,
            bool(self.has_new_head),
        )
        network = self.train_classifier(stage, classifier)
        head = {} if network.token_head is None else network.token_head.state_dict()
        tensors = {TOKEN_HEAD + name: tensor.cpu().numpy() for name, tensor in head.items()}
        backend = TorchBackend(network.classifier, self.tokenizer, str(self.device), tensors=tensors)
        # With folds, all of them decide together; and a residual is no classifier of its own.
        if self._parent is None and self.start_logits is not None and bias_logits is None:
            held_out = self.data.validation
            logits = document_outputs(backend, held_out, self.settings.model.window_pooling).logits
            if self.keeps_start(document_labels(held_out), logits, self.start_logits):
                return self.fit_start()
        return backend

    def fit_convolution(self) -> TorchBackend:
        """Train DOC's convolutional network on the word vectors of the encoder."""
        shape = self.settings.baselines
        encoder = self.fresh_classifier()
        network = convolution_on(encoder, filters=shape.doc_filters, hidden=shape.doc_hidden, dropout=shape.doc_dropout)
        return self.fit_network(classifier=network)

    def train_classifier(
        self, stage: TrainingStage, classifier: Any, data: TrainingData | None = None
    ) -> MaskerNetwork:
        """Train a stage on the documents of the run, or on ``data``; its figure becomes the run's."""
        # What a fold's network says of its fold is asked later, with its features.
        own = self.data if self._parent is None else self.data.training_only()
        network, self.validation = train_stage(
            stage, classifier, self.tokenizer, data or own, self.settings, self.work / stage.name, self.device
        )
        return network

    def fit_linear(self, features: str) -> LinearBackend:
        """Fit a logistic regression on fixed vectors: ``encoder`` (frozen hidden states) or ``tf-idf``."""
        return fit_linear_classifier(self, features)

    def loss_curves(self) -> dict[str, Curve]:
        """The losses of all stages that are finished."""
        return distributed.first_only(lambda: read_loss_curves(self.work))

    # Stages on the way ----------------------------------------------------------------------------------------------

    def find_keywords(self) -> KeywordSet:
        """Choose the keywords, or read back those of an interrupted run."""
        if self._parent is not None:
            self.keywords = self._parent.keywords or self._parent.find_keywords()
            return self.keywords
        path = self.work / "keywords.json"
        stored = distributed.first_only(lambda: path.read_text(encoding="utf-8") if path.is_file() else None)
        if stored is None:
            chosen = choose_keywords(
                self.settings, self.tokenizer, self.data.train, len(self.classes), self._attention_classifier
            )
            drawn = "drawn anew" if len(chosen.target_ids) else "none; is the tokenizer made for this language?"
            words = ", ".join(chosen.words[:20]) or drawn
            _log.info("keywords (%s): %s", chosen.source, words)
            distributed.first_only(lambda: write_text(path, chosen.dumps()))
            stored = distributed.broadcast(chosen.dumps())
        self.keywords = KeywordSet.from_json(json.loads(stored))
        return self.keywords

    def _attention_classifier(self) -> Any:
        """The model that the settings name, or a vanilla stage."""
        folder = self.settings.keywords.attention_model
        if folder is not None:
            return distributed.together(lambda: load_attention_model(folder, self.device))
        classifier, new_head = self.start_classifier(), bool(self.has_new_head)
        schedule = keyword_schedule(self.settings, len(self.data.train), new_head=new_head)
        share = self.settings.averaged_share if self.settings.starts_from_probe else 0.0
        stage = TrainingStage("vanilla", schedule, averaged_share=share, new_head=new_head)
        return self.train_classifier(stage, classifier).classifier

    def bias_logits(self, keywords: KeywordSet) -> npt.NDArray[np.float32]:
        """(N, C) outputs of a biased model, trained on documents reduced to their keywords."""
        return train_biased_model(self, keywords)


def _check_shared(work: Path) -> None:
    if not work.is_dir():
        raise ConfigError(
            f"'{work}' does not exist on machine {platform.node()}; all machines of a run need the same storage under "
            "the same path"
        )
