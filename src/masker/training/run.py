"""A training run: documents, settings and a work folder in, a backend out.

A method (:mod:`masker.training.methods`) is a few calls on this object. Every stage leaves its result in the work
folder, so an interrupted run resumes and ends with the same result as one that was never interrupted.

A network starts from the pre-trained encoder with one of two heads: that of a *probe*, a logistic regression on the
encoder's features (:mod:`masker.training.run_probes`), or a *new head* with random weights, if the settings say so or
the probe is weak. If the trained network is worse than the probe on held-out documents, the probe is kept instead.
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
from masker.modeling.pooling import pass_document_token_through
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
from masker.training.validation_metric import lost_and_won, validation_metric

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
        layers: Layers of the encoder that can be frozen.
        data: The encoded documents.
        pooling: What the head reads, and why.
        keywords: The keyword set, once :meth:`find_keywords` has chosen it.
        validation: Accuracy (or micro F1, or Pearson correlation) of the last stage on the validation documents.
        train_outputs: Outputs of the training documents, where training has computed them anyway.
        probes: The probes of the training documents.
        probe_logits: (N, C) logits of the probe for the validation documents, once it was fitted.
        kept_probe: Whether training made the network worse than the probe, which is the model then.
    """

    def __init__(
        self, documents: Documents, classes: Sequence[str], settings: Settings, work: Path, device: str = "auto"
    ) -> None:
        distributed.first_only(lambda: work.mkdir(parents=True, exist_ok=True))
        distributed.together(lambda: _check_shared(work))
        self.settings, self.classes, self.work = settings, list(classes), work
        self.device = resolve_device(device)
        # Nothing is trained on it: every stage opens the encoder again.
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
        self.probe_logits: npt.NDArray[np.float32] | None = None
        self.kept_probe = False
        self._probe: LinearMap | None = None  # of the training documents

    def folds(self) -> Iterator[TrainingRun]:
        """For each fold a run that trains on the others and validates on it; all share vectors and keywords."""
        assert self.data.folds is not None
        for fold in range(int(self.data.folds.max()) + 1):
            part = copy.copy(self)
            part.data, part.work = self.data.without_fold(fold), self.work / f"fold-{fold + 1}"
            part._parent, part.probes = self, self.probes.without((self.data.folds == fold)[self.data.train.document])
            part._probe, part.probe_logits = None, None
            distributed.first_only(lambda work=part.work: work.mkdir(exist_ok=True))  # type: ignore[misc]
            yield part

    @property
    def has_new_head(self) -> bool | None:
        """Whether training starts from a new head and not from the probe; ``None`` until a probe was fitted."""
        return self.probes.is_weak if self.settings.starts_from_probe else True

    @property
    def schedule(self) -> Schedule:
        """The length of the final training."""
        folds = self._parent is not None or self.data.folds is not None
        return final_schedule(self.settings, len(self.data.train), cross_fitted=folds, new_head=bool(self.has_new_head))

    # Where networks start -------------------------------------------------------------------------------------------

    def classifier_with_new_head(self) -> Any:
        """The pre-trained encoder with a random head, the same each time, whatever ran before."""
        from transformers import set_seed

        set_seed(self.settings.training.seed)
        return distributed.together(lambda: load_backbone(self.model_settings, self.classes).classifier)

    def initial_classifier(self, train: Encoded | None = None) -> Any:
        """What a network starts from: the encoder with the probe as its head, or with a new head.

        Args:
            train: Documents to fit a probe to, which counts even if it is weak; ``None`` is those of the run.
        """
        if not self.settings.starts_from_probe:
            return self.classifier_with_new_head().to(self.device)
        classifier = self.classifier_with_probe_head(train)
        is_weak = train is None and self.has_new_head  # known once the probe was fitted
        return self.classifier_with_new_head().to(self.device) if is_weak else classifier

    def classifier_with_probe_head(self, train: Encoded | None = None) -> Any:
        """The pre-trained encoder with a probe as its head; a new head if the architecture does not allow it."""
        classifier = self.classifier_with_new_head().to(self.device)
        if output_layer(classifier) is None:
            return classifier
        pass_document_token_through(classifier)

        def vectors(documents: Encoded) -> Any:
            return head_inputs(classifier, self.tokenizer, documents, str(self.device))

        if train is not None:
            set_output_layer(classifier, *RunProbes(self.settings, len(self.classes), train).fit_head(vectors))
            return classifier
        if self._probe is None:
            self._probe = self.probes.fit_head(vectors)
        set_output_layer(classifier, *self._probe)
        if self.probe_logits is None and self.classes and len(self.data.validation):
            self.probe_logits = self._held_out_logits(classifier, self._probe)
        return classifier

    def _held_out_logits(self, classifier: Any, probe: LinearMap) -> npt.NDArray[np.float32]:
        """(N, C) logits of the network for the validation documents, before training."""
        pooling, held_out = self.settings.model.window_pooling, self.data.validation
        vectors = self.probes.left_out_vectors()
        if vectors is None:
            backend = TorchBackend(classifier, self.tokenizer, str(self.device))
            return document_outputs(backend, held_out, pooling).logits
        return pool_outputs(Outputs(probe(vectors).astype(np.float32)), held_out.document, pooling).logits

    def fit_probe_only(self) -> TorchBackend:
        """The network before any training: the encoder with the probe as its head."""
        classifier = self.classifier_with_probe_head() if self.settings.starts_from_probe else self.initial_classifier()
        backend = TorchBackend(classifier, self.tokenizer, str(self.device))
        if self.probe_logits is not None:
            labels, head = document_labels(self.data.validation), self.settings.model.head
            self.validation = validation_metric(labels, self.probe_logits, head)
        return backend

    def keep_probe_if_better(self, labels: npt.NDArray[np.int64], trained: Any, probe: Any) -> bool:
        """Decide by the logits for held-out documents whether the probe is kept (:func:`lost_and_won`)."""
        lost, won, self.kept_probe = lost_and_won(labels, trained, probe, self.settings.model.head)
        if self.kept_probe:
            _log.info("training lost %d held-out documents and won %d: keeping the probe instead", lost, won)
        return self.kept_probe

    # Training networks ----------------------------------------------------------------------------------------------

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
            classifier: What to train; ``None`` is :meth:`initial_classifier`.
        """
        # Before the schedule is asked for: a new head takes longer.
        classifier = self.initial_classifier() if classifier is None else classifier
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
        # Folds decide together, in the end; and a network trained on residuals is no classifier by itself.
        if self._parent is None and self.probe_logits is not None and bias_logits is None:
            held_out = self.data.validation
            logits = document_outputs(backend, held_out, self.settings.model.window_pooling).logits
            if self.keep_probe_if_better(document_labels(held_out), logits, self.probe_logits):
                return self.fit_probe_only()
        return backend

    def fit_convolution(self) -> TorchBackend:
        """Train DOC's convolutional network on the word vectors of the encoder."""
        shape = self.settings.baselines
        encoder = self.classifier_with_new_head()
        network = convolution_on(encoder, filters=shape.doc_filters, hidden=shape.doc_hidden, dropout=shape.doc_dropout)
        return self.fit_network(classifier=network)

    def train_classifier(
        self, stage: TrainingStage, classifier: Any, data: TrainingData | None = None
    ) -> MaskerNetwork:
        """Train a stage on the documents of the run, or on ``data``; its validation metric becomes the run's."""
        # A fold's network is evaluated on its fold later, when its features are computed as well.
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

    # Keywords, and the stages that serve them -----------------------------------------------------------------------

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
        classifier, new_head = self.initial_classifier(), bool(self.has_new_head)
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
