"""Model: a trained classifier with its reject option. Everything else in the package uses this one noun.

::

    model = Model.fit(documents, settings, work)      # or Model.open(folder)
    judged = model.judge(texts)                       # probabilities, scores, p-values, decisions
    model = model.calibrate(texts, labels)            # a new promise for new texts, no training
    model.save(folder)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from masker.config import Head, Settings
from masker.detection.calibration import Calibration
from masker.detection.detector import Detector, Judgement, RuleChanges
from masker.detection.evaluation import (
    Resampling,
    evaluate_classification,
    evaluate_label_sets,
    evaluate_regression,
)
from masker.detection.fitting import DetectorFitter
from masker.detection.prediction import Prediction, predictions_of
from masker.detection.recalibration import check_statistics, choosing_split, recalibrated_settings
from masker.detection.trade_off import operating_point
from masker.documents import Documents, check_form
from masker.documents.encoding import Encoded, encode
from masker.documents.texts import Text, split_pairs, texts_of
from masker.errors import ConfigError, DataError, MaskerError, ModelError
from masker.inference.backend import LINEAR_TENSORS, TOKEN_HEAD, Backend
from masker.inference.batching import Advance
from masker.inference.outputs import Outputs
from masker.inference.windows import document_outputs
from masker.keywords import KeywordSet
from masker.labels import LABEL_TYPES, class_indices, label_matrix
from masker.model_files import folder_content, read_model_fields
from masker.model_training import train_model_fields
from masker.modeling.model_folder import Change, load_manifest, save_folder, update_folder
from masker.provenance import provenance
from masker.registry import METHODS

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Texts predicted together from a stream: enough to sort by length, little memory.
STREAM_CHUNK = 2048


@dataclass(frozen=True)
class Model:
    """A trained model.

    Attributes:
        tokenizer: The backbone's tokenizer.
        max_length: Longest row in tokens.
        backend: Runs the network.
        detector: Turns its outputs into confidence, score and decision; ``None`` for a regression.
        settings: All settings it was trained and calibrated with.
        classes: Class names in the order of the outputs; empty for a regression.
        label_type: Type of the user's labels: ``str``, ``int``, ``float`` or ``bool``.
        pairs: Whether its inputs are pairs of texts.
        keywords: The keywords it was trained with, if any.
        validation: Accuracy (or Pearson correlation) on the validation documents.
        provenance: Data, seed, versions and machine it comes from.
        losses: Training curves by stage (:mod:`masker.training.loss_curve`).
    """

    tokenizer: Any
    max_length: int
    backend: Backend
    detector: Detector | None
    settings: Settings
    classes: list[str]
    label_type: str = "str"
    pairs: bool = False
    keywords: KeywordSet | None = None
    validation: dict[str, float] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    losses: dict[str, Any] = field(default_factory=dict)

    # Training and opening -------------------------------------------------------------------------------------------

    @classmethod
    def fit(
        cls,
        documents: Documents,
        settings: Settings,
        work: Path,
        *,
        label_type: str = "str",
        device: str = "auto",
        restart: bool = False,
    ) -> Model:
        """Train a model.

        Args:
            documents: Labelled documents.
            settings: All settings.
            work: Folder with what an interrupted run needs to resume. It is checked to belong to the same documents
                and settings, and left for the caller to remove once the model is saved.
            label_type: Type of the user's labels.
            device: ``auto``, ``cpu``, ``cuda``, ``cuda:N`` or ``mps``.
            restart: Discard an unfinished run.

        Raises:
            ConfigError: When ``work`` holds another unfinished run, or a setting does not fit.
            DataError: When the documents cannot train a classifier.
            MissingPackageError: When the packages of ``masker[train]`` are not installed.
        """
        return cls(
            **train_model_fields(documents, settings, work, label_type=label_type, device=device, restart=restart)
        )

    @classmethod
    def open(
        cls,
        folder: str | Path,
        backend: str | None = None,
        device: str = "auto",
        score: str | None = None,
        false_alarm_rate: float | None = None,
        confidence: float | None = None,
        missed_rate: float | None = None,
    ) -> Model:
        """Open a folder that :meth:`save`, ``masker train`` or ``masker export`` wrote.

        Args:
            folder: The model folder.
            backend: ``torch``, ``torch-bf16``, or ``onnx`` and ``onnx-int8`` after an export; ``None`` takes torch
                unless the folder was exported without its weights.
            device: ``auto``, ``cpu``, ``cuda``, ``cuda:N`` or ``mps``.
            score: Another out-of-distribution score, calibrated on the same held-out documents.
            false_alarm_rate: Another rate to promise.
            confidence: Another probability to promise it with.
            missed_rate: Another promise about the labels of a multi-label model.

        Raises:
            ConfigError: When there is no such backend or device, or the model does not have that score.
            MissingPackageError: When the backend needs a package that is not installed.
            ModelError: When the folder is missing, not ours, damaged, not exported for ``backend``, or has a pickle.
        """
        model = cls(**read_model_fields(folder, backend, device))
        if missed_rate is not None:
            model = model.at_missed_rate(missed_rate)
        if (score, false_alarm_rate, confidence) == (None, None, None):
            return model
        return model.adjusted(score=score, false_alarm_rate=false_alarm_rate, confidence=confidence)

    # Use ------------------------------------------------------------------------------------------------------------

    @property
    def head(self) -> Head:
        """What the outputs stand for: classes, labels or a number."""
        return self.settings.model.head

    @property
    def is_regression(self) -> bool:
        """Whether it predicts numbers instead of classes."""
        return self.head == "regression"

    @property
    def is_multi_label(self) -> bool:
        """Whether a text may have any number of labels."""
        return self.head == "multi-label"

    def require_detector(self, purpose: str = "this") -> Detector:
        """The detector; for a regression, a MaskerError that names what needs classes."""
        if self.detector is None:
            raise MaskerError(f"{purpose} needs classes, and this model is a regression; use predict")
        return self.detector

    def encode(self, texts: Sequence[Text]) -> Encoded:
        """Token ids of texts; refuses pairs if the model was trained on single texts, and vice versa."""
        first, pairs = split_pairs(texts)
        if not first:
            return Encoded([], None, None, np.empty(0, dtype=np.int64))
        if (pairs is not None) != self.pairs:
            expected = "pairs of texts (columns text and text_pair)" if self.pairs else "single texts"
            raise DataError(f"this model was trained on {expected}; the input is of the other kind")
        return encode(self.tokenizer, first, pairs, self.max_length, window_overlap=self.settings.model.overlap)

    def encode_labelled(self, texts: Sequence[Text], labels: Sequence[Any]) -> Encoded:
        """Token ids of texts, with class indices, or flags of their labels."""
        encoded = self.encode(texts)
        known = (label_matrix if self.is_multi_label else class_indices)(labels, self.classes)
        return replace(encoded, labels=known[encoded.document])

    def outputs(self, texts: Sequence[Text], advance: Advance | None = None, kinds: Sequence[str] = ()) -> Outputs:
        """Logits of texts, and features of these kinds: all that a score reads."""
        encoded = self.encode(texts)
        if not len(encoded):
            return Outputs(np.empty((0, self.backend.n_outputs), dtype=np.float32))
        return document_outputs(self.backend, encoded, self.settings.model.window_pooling, advance, kinds=kinds)

    def judge(self, texts: Sequence[Text], advance: Advance | None = None) -> Judgement:
        """Probabilities, scores, p-values and decisions, in one pass."""
        detector = self.require_detector()
        return detector.judge(self.outputs(texts, advance, detector.score.features))

    @property
    def labels(self) -> list[Any]:
        """The classes as the user's labels, in the order of the outputs."""
        return [LABEL_TYPES[self.label_type](name) for name in self.classes]

    def predict(self, texts: Sequence[Text], advance: Advance | None = None) -> list[Prediction]:
        """Label (or labels), confidence, p-value, score and decision for each text, in one pass."""
        if self.is_regression:
            logits = self.outputs(texts, advance).logits
            return [Prediction(float(value), None, None, None, None) for value in logits[:, 0]]
        return predictions_of(self.judge(texts, advance), self.labels)

    def evaluate(
        self,
        test: Documents,
        ood: dict[str, Documents] | None = None,
        *,
        resamples: int = 1000,
        advance: Advance | None = None,
    ) -> dict[str, Any]:
        """Measure the model on labelled test documents and on named sets of out-of-distribution documents.

        Returns:
            A JSON-ready report; each figure is ``{"value", "low", "high"}`` with a 95 % bootstrap interval.
        """
        assert test.labels is not None
        resampling = Resampling(resamples, self.settings.training.seed)
        if self.is_regression:
            if ood:
                raise ConfigError("a regression has no classes to be out of; evaluate it without --ood")
            logits = self.outputs(texts_of(test), advance).logits
            figures = evaluate_regression(logits, [float(str(label)) for label in test.labels], resampling)
        else:
            check_form(test, several=self.is_multi_label)
            foreign = {name: self.judge(texts_of(documents), advance) for name, documents in (ood or {}).items()}
            measure = evaluate_label_sets if self.is_multi_label else evaluate_classification
            labels: Any = test.labels if self.is_multi_label else [str(label) for label in test.labels]
            judged = self.judge(texts_of(test), advance)
            figures = measure(self.require_detector(), self.classes, judged, labels, foreign, resampling)
        origin = provenance(seed=resampling.seed, data_sha256=test.fingerprint(), trained=self.provenance)
        return {"test": test.name, "documents": len(test), **figures, "provenance": origin}

    # Calibration ----------------------------------------------------------------------------------------------------

    def with_detector(self, detector: Detector, settings: Settings | None = None) -> Model:
        """The same model with another detector, and the settings that it was calibrated with."""
        return replace(self, detector=detector, settings=settings or self.settings)

    def adjusted(self, **changes: Unpack[RuleChanges]) -> Model:
        """The same model with another score or decision rule, calibrated on the same held-out documents.

        ``None`` keeps what the model has; a score that it does not have is a ConfigError.
        """
        detector = self.require_detector("another score or false-alarm rate")
        changed, detection = detector.adjusted(self.settings, **changes)
        return self.with_detector(changed, self.settings.model_copy(update={"detection": detection}))

    def at_missed_rate(self, missed_rate: float) -> Model:
        """The same multi-label model with thresholds for another missed rate, from the same held-out documents."""
        detector = self.require_detector("missed_rate").with_missed_rate(missed_rate)
        detection = self.settings.detection.model_copy(update={"missed_rate": missed_rate})
        return self.with_detector(detector, self.settings.model_copy(update={"detection": detection}))

    def calibrate(
        self,
        texts: Sequence[Text],
        labels: Sequence[Any] | None,
        *,
        score: str | None = None,
        false_alarm_rate: float | None = None,
        confidence: float | None = None,
        class_conditional: bool | None = None,
        statistics: tuple[Sequence[Text], Sequence[Any]] | None = None,
    ) -> Model:
        """The same network with a detector calibrated on new in-distribution texts.

        Args:
            texts: New texts that the model was not trained on.
            labels: Their classes, for the confidence and the choice of ``auto``; ``None`` leaves both unchanged.
            score: Another score; ``auto`` is chosen anew on one part of the texts and calibrated on the other.
            false_alarm_rate: Another rate to promise.
            confidence: Another probability to promise it with.
            class_conditional: Whether it is promised for each class.
            statistics: Labelled training texts, to gather the score's statistics from.

        Raises:
            ConfigError: When the model cannot have that score, or a value is out of range.
            DataError: When there are too few texts, or a label is not one of the model's classes.
            ModelError: When the score needs statistics that the model does not have.
        """
        detector = self.require_detector("calibrate")
        promise = false_alarm_rate, class_conditional, confidence
        settings = recalibrated_settings(self.settings, detector.score.name, score, *promise)
        own = METHODS.get(settings.training.method).own_score is not None
        if statistics is not None:
            check_statistics(statistics[1], self.classes, settings)
        if not len(texts):
            raise DataError("calibrate: there is no text; give held-out texts of the model's classes")
        known = None if statistics is None else self.encode_labelled(*statistics)
        choosing = None
        if not own and settings.detection.score == "auto" and (score == "auto" or statistics is not None):
            parts = choosing_split(labels, len(texts), settings)
            choosing, held_out = (
                self.encode_labelled([texts[row] for row in rows], [(labels or [])[row] for row in rows])
                for rows in parts
            )
        else:
            held_out = self.encode(texts) if labels is None else self.encode_labelled(texts, labels)
        fitter = DetectorFitter(self.backend, self.tokenizer, self.keywords, settings)
        return self.with_detector(fitter.recalibrate(detector, held_out, choosing, known), settings)

    def at_operating_point(
        self, ood_texts: Sequence[Text], highest: float | None = None
    ) -> tuple[Model, list[dict[str, Any]]]:
        """The same model at the false-alarm rate that suits examples of out-of-distribution texts best.

        Args:
            ood_texts: The examples.
            highest: Upper limit of the rate; ``None`` is one half.

        Returns:
            The model, and what other rates would cost and catch (:mod:`masker.detection.trade_off`).
        """
        self.require_detector("ood_examples")
        if not len(ood_texts):
            raise DataError("ood_examples: there is no text; give at least one")
        judged = self.judge(ood_texts)

        def rule_at(rate: float) -> Calibration:
            return self.adjusted(false_alarm_rate=rate).require_detector().calibration

        rate, rows = operating_point(rule_at, judged.scores, judged.predicted, highest)
        return self.adjusted(false_alarm_rate=rate), rows

    def describe_detector(self) -> dict[str, Any] | None:
        """Score, false-alarm rate, temperature and the evidence for them, JSON-ready; ``None`` for a regression."""
        if self.detector is None:
            return None
        return {"score": self.detector.score.name, **self.detector.to_manifest()}

    # Saving ---------------------------------------------------------------------------------------------------------

    def save(self, folder: str | Path, *, overwrite: bool = False, beside: Change | None = None) -> Path:
        """Write the model folder, which plain transformers opens too; ``beside`` adds files before it appears.

        Raises:
            ConfigError: When it exists and may not be overwritten, or cannot be written.
            ModelError: When the backend does not hold the weights.
        """
        weights = self.backend.weights()
        if weights is None:
            raise ModelError(
                "this backend does not hold the full weights; open the model with backend='torch' to save it"
            )
        content = folder_content(self, weights.tensors)
        return save_folder(folder, weights.native, self.tokenizer, content, overwrite=overwrite, beside=beside)

    def save_detector(self, folder: str | Path) -> Path:
        """Write the detector into the model folder this model was opened from; the network's files stay."""
        stored = load_manifest(folder).tensors
        # A linear classifier is stored in the same file as the detector, and so is the token head.
        kept = {name: tensor for name, tensor in stored.items() if name.startswith((*LINEAR_TENSORS, TOKEN_HEAD))}
        return update_folder(folder, folder_content(self, kept))
