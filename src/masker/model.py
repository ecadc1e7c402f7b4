"""Model: a trained classifier with its reject option, the object that the rest of the package works with.

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
from masker.detection.detector import Detector, Judgement, RuleChanges
from masker.detection.evaluation import Resampling
from masker.detection.prediction import Prediction, predictions_of
from masker.detection.recalibration import recalibrated_settings
from masker.documents import Documents
from masker.documents.encoding import Encoded, encode
from masker.documents.texts import Text, kind_mismatch, split_pairs
from masker.errors import DataError, MaskerError
from masker.inference.backend import Backend
from masker.inference.batching import Advance
from masker.inference.outputs import Outputs
from masker.inference.windows import document_outputs
from masker.keywords import KeywordSet
from masker.labels import LABEL_TYPES, class_indices, label_matrix
from masker.model_calibration import best_operating_point, detector_on_new_texts
from masker.model_evaluation import evaluate_model
from masker.model_files import read_model_fields, write_detector, write_model
from masker.model_training import train_model_fields
from masker.modeling.model_folder import Change

if TYPE_CHECKING:
    from typing_extensions import Unpack


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
            raise DataError(kind_mismatch(self.pairs))
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
        return evaluate_model(self, test, ood or {}, Resampling(resamples, self.settings.training.seed), advance)

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
        used = self.require_detector("calibrate").score.name
        settings = recalibrated_settings(self.settings, used, score, false_alarm_rate, class_conditional, confidence)
        choose_auto = score == "auto" or statistics is not None
        detector = detector_on_new_texts(self, settings, texts, labels, statistics=statistics, choose_auto=choose_auto)
        return self.with_detector(detector, settings)

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
        rate, rows = best_operating_point(self, ood_texts, highest)
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
        return write_model(self, folder, overwrite=overwrite, beside=beside)

    def save_detector(self, folder: str | Path) -> Path:
        """Write the detector into the model folder this model was opened from; the network's files stay."""
        return write_detector(self, folder)
