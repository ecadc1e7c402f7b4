"""MaskerClassifier: the scikit-learn face of :class:`masker.model.Model`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from masker import distributed
from masker.classifier_parameters import parameters_from_settings, settings_from_parameters
from masker.config import Settings
from masker.detection.prediction import Prediction
from masker.documents import Documents, collect_documents
from masker.documents.rows import texts_to_rows
from masker.documents.texts import Text, in_chunks
from masker.errors import DataError, MaskerError
from masker.inference.batching import Advance
from masker.keywords import KeywordSet
from masker.labels import label_matrix, label_type_of
from masker.model import Model


class MaskerClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A text classifier that can say "this is not one of my classes".

    Follows scikit-learn: ``fit``, ``predict``, ``predict_proba``, ``score``, ``get_params``, ``clone``.

    Args:
        method: ``masker``, ``vanilla``, ``residual``, ``openmax``, ``doc``, ``ocsvm``, ``linear``, or a plug-in's; see
            docs/systems.md.
        head: ``one-vs-rest``, ``multi-class``, ``multi-label`` or ``regression``; ``None``: by labels and method.
        keywords: ``attention``, ``frequency``, ``random``, a plug-in's scheme, or a file of words.
        backbone: ``minilm``, ``granite-30m``, ``mpnet`` (docs/backbones.md), a hub id, or a folder.
        epochs: Epochs of the final model; ``None`` takes the default of method and preset.
        max_length: Tokens of a document that are read.
        seed: Same seed, same machine: same model.
        false_alarm_rate: Share of in-distribution texts that may be rejected.
        preset: ``ood`` or ``cross-domain``: training as in the paper, with its loss weights for that task.
        settings: Any other settings, ``{"section": {"key": value}}``; see :mod:`masker.config`.
        detector: The out-of-distribution score, ``--score`` on the command line: ``auto``, ``max-prob`` (the paper's),
            or another of docs/scores.md. (scikit-learn reserves ``score``.)
        class_conditional: Keep the false-alarm rate within each predicted class, not only overall.
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:N`` or ``mps``.
        confidence: Probability that this model keeps the false-alarm rate, such as 0.95; ``None`` keeps it on average.
    """

    def __init__(
        self,
        method: str = "masker",
        head: str | None = None,
        keywords: str = "attention",
        backbone: str = "minilm",
        epochs: int | None = None,
        max_length: int | None = None,
        seed: int = 0,
        false_alarm_rate: float = 0.05,
        preset: str | None = None,
        settings: dict[str, dict[str, Any]] | None = None,
        detector: str | None = None,
        class_conditional: bool | None = None,
        device: str = "auto",
        confidence: float | None = None,
    ) -> None:
        self.method = method
        self.head = head
        self.keywords = keywords
        self.backbone = backbone
        self.epochs = epochs
        self.max_length = max_length
        self.seed = seed
        self.false_alarm_rate = false_alarm_rate
        self.preset = preset
        self.settings = settings
        self.detector = detector
        self.class_conditional = class_conditional
        self.device = device
        self.confidence = confidence

    @classmethod
    def of(cls, model: Model, device: str = "auto") -> MaskerClassifier:
        """A fitted classifier around a model, with parameters that say the same as its settings."""
        self = cls.from_settings(model.settings)
        self.device = device
        self._model = model
        return self

    @classmethod
    def from_settings(cls, settings: Settings) -> MaskerClassifier:
        """An unfitted classifier whose parameters say the same as ``settings``."""
        return cls(**parameters_from_settings(settings))

    # Training and prediction ----------------------------------------------------------------------------------------

    def fit(self, texts: Sequence[Text], labels: Sequence[Any]) -> MaskerClassifier:
        """Train on texts, or (text, text_pair) tuples, and their labels: names, numbers, or scores for a regression.

        Lists of labels train a multi-label model; an empty list is a text without any.
        """
        _check_lengths(texts, labels)
        settings = settings_from_parameters(self)
        rows = texts_to_rows(texts, labels)
        documents = collect_documents(rows, settings.data, name="fit", require_labels=True, head=settings.model.head)
        with distributed.temporary_folder() as work:
            self._model = Model.fit(documents, settings, work, label_type=label_type_of(labels), device=self.device)
        return self

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The classes, in the order of :meth:`predict_proba`'s columns."""
        return np.array(self.model_.labels)

    def doc_logits(self, texts: Sequence[Text], advance: Advance | None = None) -> npt.NDArray[np.float32]:
        """(N, C) raw outputs of f_doc."""
        return self.model_.outputs(texts, advance).logits

    def predict(self, texts: Sequence[Text], *, reject: bool = False) -> npt.NDArray[Any]:
        """The most probable class of each text, or the predicted number of a regression.

        For a multi-label model, (N, C) flags of the labels, in the order of :attr:`classes_`, as scikit-learn has them.
        With ``reject``, ``None`` for out-of-distribution texts.

        Raises:
            MaskerError: When a multi-label model is asked to ``reject``: flags cannot say so.
        """
        if self.model_.is_multi_label:
            if reject:
                raise MaskerError(
                    "predict: a multi-label model cannot reject here; use predict_texts, which has is_ood"
                )
            given = self.model_.judge(texts).given
            assert given is not None
            return given.astype(np.int64)
        if reject:
            answers = [answer.as_dict(reject=True)["label"] for answer in self.predict_texts(texts)]
            return np.array(answers, dtype=object)
        logits = self.doc_logits(texts)
        return logits[:, 0] if self.model_.is_regression else self.classes_[logits.argmax(axis=1)]

    def score(self, texts: Sequence[Text], labels: Sequence[Any], sample_weight: Any = None) -> float:
        """Accuracy; for a multi-label model, the share of texts with all labels right."""
        true: Any = label_matrix(labels, self.model_.classes) if self.model_.is_multi_label else labels
        return float(super().score(texts, true, sample_weight))

    def predict_proba(self, texts: Sequence[Text]) -> npt.NDArray[np.float64]:
        """(N, C) calibrated probabilities; those of a 1-vs-rest head need not sum to 1."""
        return self.model_.require_detector("predict_proba").probabilities(self.doc_logits(texts))

    def ood_score(self, texts: Sequence[Text]) -> npt.NDArray[np.float64]:
        """(N,) scores, higher = more out-of-distribution."""
        self.model_.require_detector("ood_score")
        return self.model_.judge(texts).scores

    def is_ood(self, texts: Sequence[Text]) -> npt.NDArray[np.bool_]:
        """(N,) whether each text is none of the classes."""
        self.model_.require_detector("is_ood")
        return self.model_.judge(texts).rejected

    def predict_texts(self, texts: Sequence[Text], advance: Advance | None = None) -> list[Prediction]:
        """Label, confidence, p-value, score and decision for each text, in one pass."""
        return self.model_.predict(texts, advance)

    def predict_stream(self, texts: Iterable[Text]) -> Iterator[Prediction]:
        """Predict an endless or huge stream of texts in order, a chunk at a time."""
        for chunk in in_chunks(texts):
            yield from self.predict_texts(chunk)

    def evaluate(
        self,
        test: Documents,
        ood: dict[str, Documents] | None = None,
        *,
        resamples: int = 1000,
        advance: Advance | None = None,
    ) -> dict[str, Any]:
        """Measure the classifier; see :meth:`masker.model.Model.evaluate`."""
        return self.model_.evaluate(test, ood, resamples=resamples, advance=advance)

    # Calibration ----------------------------------------------------------------------------------------------------

    def calibrate(
        self,
        texts: Sequence[Text],
        labels: Sequence[Any] | None = None,
        *,
        score: str | None = None,
        false_alarm_rate: float | None = None,
        confidence: float | None = None,
        class_conditional: bool | None = None,
        ood_examples: Sequence[Text] | None = None,
        statistics: tuple[Sequence[Text], Sequence[Any]] | None = None,
    ) -> dict[str, Any]:
        """Calibrate rejection and confidence on new in-distribution texts, without training.

        Args:
            texts: Texts that the model was not trained on.
            labels: Their classes; without them the confidence stays unchanged.
            score: Another score; ``auto`` is chosen anew.
            false_alarm_rate: Share of in-distribution texts that may be rejected; an upper limit with ``ood_examples``.
            confidence: Probability that this calibration keeps the rate; 0 keeps it on average.
            class_conditional: Keep the rate within each predicted class.
            ood_examples: Out-of-distribution texts to set the rate by.
            statistics: Labelled training texts, for a score that the model has no statistics for.

        Returns:
            A JSON-ready report.
        """
        if labels is not None:
            _check_lengths(texts, labels)
        self._model = self.model_.calibrate(
            texts,
            labels,
            score=score,
            false_alarm_rate=false_alarm_rate,
            confidence=confidence,
            class_conditional=class_conditional,
            statistics=statistics,
        )
        rows = None if ood_examples is None else self.set_operating_point(ood_examples, false_alarm_rate)
        return {"documents": len(texts), "threshold": self.threshold_, **(self.detection_ or {}), "trade_off": rows}

    def set_operating_point(self, ood_examples: Sequence[Text], highest: float | None = None) -> list[dict[str, Any]]:
        """Set the false-alarm rate by examples; see :meth:`masker.model.Model.at_operating_point`."""
        self._model, rows = self.model_.at_operating_point(ood_examples, highest)
        return rows

    # Saving and opening ---------------------------------------------------------------------------------------------

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the model folder, which plain transformers opens too; ``overwrite`` replaces an existing one."""
        return self.model_.save(path, overwrite=overwrite)

    def save_calibration(self, path: str | Path) -> Path:
        """Write score, threshold and temperature into the model folder ``path``, and nothing else."""
        return self.model_.save_detector(path)

    @classmethod
    def load(
        cls,
        path: str | Path,
        backend: str | None = None,
        score: str | None = None,
        false_alarm_rate: float | None = None,
        device: str = "auto",
        confidence: float | None = None,
    ) -> MaskerClassifier:
        """Open a model folder; see :meth:`masker.model.Model.open`."""
        return cls.of(Model.open(path, backend, device, score, false_alarm_rate, confidence), device)

    # What fitting found ---------------------------------------------------------------------------------------------

    @property
    def model_(self) -> Model:
        """The fitted model.

        Raises:
            MaskerError: When the classifier is not fitted.
        """
        if not hasattr(self, "_model"):
            raise MaskerError("this classifier is not trained yet; call fit(texts, labels) or MaskerClassifier.load")
        return self._model

    @property
    def is_regression(self) -> bool:
        """Whether the model predicts numbers instead of classes."""
        return self.model_.is_regression

    @property
    def keywords_(self) -> KeywordSet | None:
        """The keywords it was trained with."""
        return self.model_.keywords

    @property
    def validation_(self) -> dict[str, float]:
        """Accuracy (or Pearson correlation) on the validation documents."""
        return self.model_.validation

    @property
    def provenance_(self) -> dict[str, Any]:
        """Where the model comes from."""
        return self.model_.provenance

    @property
    def detection_(self) -> dict[str, Any] | None:
        """Score, false-alarm rate, temperature and the evidence for them, JSON-ready; ``None`` for a regression."""
        return self.model_.describe_detector()

    @property
    def threshold_(self) -> float | None:
        """Score above which a text is out-of-distribution; ``None`` for a regression. Can be set."""
        detector = self.model_.detector
        return None if detector is None else detector.calibration.threshold

    @threshold_.setter
    def threshold_(self, threshold: float) -> None:
        detector = self.model_.require_detector("threshold_")
        calibration = detector.calibration.with_threshold(threshold)
        self._model = self.model_.with_detector(replace(detector, calibration=calibration))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")


def _check_lengths(texts: Sequence[Text], labels: Sequence[Any]) -> None:
    if len(texts) != len(labels):
        raise DataError(f"there must be one label for each text; got {len(texts)} texts and {len(labels)} labels")
