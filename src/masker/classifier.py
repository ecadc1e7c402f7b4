"""MaskerClassifier: the one facade that library, command line and service share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from masker import distributed
from masker.config import Settings, build_settings
from masker.detection.evaluation import Resampling, evaluate_classification, evaluate_regression
from masker.detection.prediction import Prediction as Prediction
from masker.documents import Documents, Row, check_classes, collect_documents
from masker.documents.texts import Text, split_pairs
from masker.documents.texts import texts_of as texts_of
from masker.errors import ConfigError, DataError, MaskerError
from masker.keywords import KeywordSet
from masker.labels import LABEL_TYPES, label_type_of
from masker.model import Advance, Model
from masker.provenance import provenance
from masker.systems import fit_system

#: Rows that are scored together when predicting from a stream: enough to sort by length, little memory.
STREAM_CHUNK = 2048

#: Settings that a parameter of the classifier sets.
_PARAMETERS: dict[str, set[str]] = {
    "training": {"method", "epochs", "seed"},
    "model": {"head", "backbone", "max_length"},
    "keywords": {"source"},
    "detection": {"false_alarm_rate", "score", "class_conditional"},
}


class MaskerClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A text classifier that can say "this is not one of my classes".

    Follows scikit-learn: ``fit``, ``predict``, ``predict_proba``, ``score``, ``get_params``, ``clone``.

    Args:
        method: ``masker``, ``vanilla``, ``residual``, ``openmax``, ``doc``, ``ocsvm``, ``linear``; docs/systems.md.
        head: ``one-vs-rest``, ``multi-class`` or ``regression``; ``None`` takes 1-vs-rest, or what the method needs.
        keywords: ``attention``, ``frequency``, ``random`` or a file of words.
        backbone: Embedded name, hub id or folder.
        epochs: Passes over the data of the final model; ``None`` takes what suits the method and preset.
        max_length: Tokens of a document that are read.
        seed: Same seed, same machine: same model.
        false_alarm_rate: Share of in-distribution texts that may be called out-of-distribution.
        preset: ``ood`` or ``cross-domain``: training as in the paper, with its loss weights for that task.
        settings: Any further settings, ``{"section": {"key": value}}``; see :mod:`masker.config`.
        detector: The out-of-distribution score, ``--score`` of the command line: ``auto``, ``max-prob`` (the paper's),
            or another of docs/scores.md. (scikit-learn has a method ``score``.)
        class_conditional: Keep the false-alarm rate within each predicted class, not only on the whole.
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

    # Training -------------------------------------------------------------------------------------------------------

    def fit(self, texts: Sequence[Text], labels: Sequence[Any]) -> MaskerClassifier:
        """Train on texts (or pairs of texts) and their labels.

        Args:
            texts: Strings, or (text, text_pair) tuples.
            labels: Class names, class numbers, or scores for a regression.
        """
        if len(texts) != len(labels):
            raise DataError(f"there must be one label for each text; got {len(texts)} texts and {len(labels)} labels")
        settings = self._build_settings()
        first, pairs = split_pairs(texts)
        values = [label.item() if isinstance(label, np.generic) else label for label in labels]
        seconds: list[str] | list[None] = [None] * len(first) if pairs is None else pairs
        rows = map(Row, first, seconds, values, range(1, len(first) + 1))
        documents = collect_documents(
            rows, settings.data, name="fit", require_labels=True, numeric_labels=settings.model.head == "regression"
        )
        with distributed.temporary_folder() as work:
            return self.fit_documents(documents, settings, work, label_type=label_type_of(values))

    def fit_documents(
        self, documents: Documents, settings: Settings, work: Path, *, label_type: str = "str"
    ) -> MaskerClassifier:
        """Train on a corpus with full settings; ``work`` keeps what an interrupted run needs to go on."""
        classes: list[str] = []
        if settings.model.head != "regression":
            check_classes(documents)
            classes = documents.class_names
            classes.sort(key=LABEL_TYPES[label_type])
        origin = provenance(
            seed=settings.training.seed, data=documents.name, data_sha256=documents.fingerprint(), rows=len(documents)
        )
        system = fit_system(documents, classes, settings, work)
        system.tokenizer.model_max_length = system.max_length
        self._model = Model(system, settings, classes, label_type, documents.pairs is not None, origin)
        return self

    @classmethod
    def from_settings(cls, settings: Settings) -> MaskerClassifier:
        """An untrained classifier whose parameters say the same as ``settings``."""
        return cls(
            method=settings.training.method,
            head=settings.model.head,
            keywords=settings.keywords.source,
            backbone=settings.model.backbone,
            epochs=settings.training.epochs,
            max_length=settings.model.max_length,
            seed=settings.training.seed,
            false_alarm_rate=settings.detection.false_alarm_rate,
            # What has a parameter of its own is left to it, or a changed parameter would do nothing.
            settings=settings.model_dump(exclude=_PARAMETERS),
            detector=settings.detection.score,
            class_conditional=settings.detection.class_conditional,
        )

    def _build_settings(self) -> Settings:
        return build_settings(
            {
                "training": {"method": self.method, "epochs": self.epochs, "seed": self.seed},
                "model": {"head": self.head, "backbone": self.backbone, "max_length": self.max_length},
                "keywords": {"source": self.keywords},
                "detection": {
                    "false_alarm_rate": self.false_alarm_rate,
                    "score": self.detector,
                    "class_conditional": self.class_conditional,
                },
            },
            self.settings,
            preset=self.preset,
        )

    # Prediction -----------------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The classes, in the order of :meth:`predict_proba`'s columns."""
        model = self._fitted()
        convert = LABEL_TYPES[model.label_type]
        return np.array([convert(name) for name in model.classes])

    def doc_logits(self, texts: Sequence[Text], advance: Advance | None = None) -> npt.NDArray[np.float32]:
        """(N, C) raw outputs of f_doc."""
        return self._fitted().outputs(texts, advance).logits

    def predict(self, texts: Sequence[Text], *, reject: bool = False) -> npt.NDArray[Any]:
        """The most probable class of each text, or the predicted number of a regression.

        With ``reject``, ``None`` in the place of the class of an out-of-distribution text.
        """
        if reject:
            answers = [answer.as_dict(reject=True)["label"] for answer in self.predict_texts(texts)]
            return np.array(answers, dtype=object)
        logits = self.doc_logits(texts)
        return logits[:, 0] if self.is_regression else self.classes_[logits.argmax(axis=1)]

    def predict_proba(self, texts: Sequence[Text]) -> npt.NDArray[np.float64]:
        """(N, C) probabilities, calibrated on held-out documents; those of a 1-vs-rest head need not sum to 1."""
        return self._fitted().detector("predict_proba").probabilities(self.doc_logits(texts))

    def ood_score(self, texts: Sequence[Text]) -> npt.NDArray[np.float64]:
        """(N,) scores, higher = more out-of-distribution."""
        self._fitted().detector("ood_score")
        return self._fitted().judge(texts).scores

    def is_ood(self, texts: Sequence[Text]) -> npt.NDArray[np.bool_]:
        """(N,) true where a text is none of the classes."""
        self._fitted().detector("is_ood")
        return self._fitted().judge(texts).rejected

    def predict_texts(self, texts: Sequence[Text], advance: Advance | None = None) -> list[Prediction]:
        """Label, confidence, p-value, score and decision of each text, from one pass."""
        if self.is_regression:
            return [Prediction(float(value), None, None, None, None) for value in self.doc_logits(texts, advance)[:, 0]]
        judged = self._fitted().judge(texts, advance)
        labels = self.classes_[judged.predicted].tolist()
        columns = (labels, judged.probabilities.max(axis=1), judged.p_values, judged.scores, judged.rejected)
        return [
            Prediction(label, float(certain), float(p_value), float(score), bool(out))
            for label, certain, p_value, score, out in zip(*columns, strict=True)
        ]

    def predict_stream(self, texts: Iterable[Text]) -> Iterator[Prediction]:
        """Predict an endless or huge stream of texts in order, a chunk at a time."""
        stream = iter(texts)
        while chunk := list(islice(stream, STREAM_CHUNK)):
            yield from self.predict_texts(chunk)

    # Evaluation -----------------------------------------------------------------------------------------------------

    def evaluate(
        self,
        test: Documents,
        ood: dict[str, Documents] | None = None,
        *,
        resamples: int = 1000,
        advance: Advance | None = None,
    ) -> dict[str, Any]:
        """Measure the classifier on labelled test documents and, by name, on out-of-distribution ones.

        Returns:
            A JSON-ready report; each figure is ``{"value", "low", "high"}`` with a 95 % bootstrap interval.
        """
        assert test.labels is not None
        model = self._fitted()
        seed = model.settings.training.seed
        if self.is_regression:
            if ood:
                raise ConfigError("a regression has no classes to be out of; evaluate it without --ood")
            logits = self.doc_logits(texts_of(test), advance)
            figures = evaluate_regression(logits, [float(label) for label in test.labels], Resampling(resamples, seed))
        else:
            detector = model.detector()
            figures = evaluate_classification(
                detector,
                model.classes,
                model.judge(texts_of(test), advance),
                [str(label) for label in test.labels],
                {name: model.judge(texts_of(documents), advance) for name, documents in (ood or {}).items()},
                Resampling(resamples, seed),
            )
            figures = {"score": detector.score.name, **figures}
        return {
            "test": test.name,
            "documents": len(test),
            **figures,
            "provenance": provenance(seed=seed, data_sha256=test.fingerprint(), trained=self.provenance_),
        }

    # Calibration ----------------------------------------------------------------------------------------------------

    def calibrate(
        self,
        texts: Sequence[Text],
        labels: Sequence[Any] | None = None,
        *,
        score: str | None = None,
        false_alarm_rate: float | None = None,
        class_conditional: bool | None = None,
        ood_examples: Sequence[Text] | None = None,
        statistics: tuple[Sequence[Text], Sequence[Any]] | None = None,
    ) -> dict[str, Any]:
        """Calibrate rejection and confidence on new in-distribution texts, without training.

        Args:
            texts: Texts that the model was not trained on.
            labels: Their classes; without them the confidence stays as it is.
            score: Another out-of-distribution score; ``auto`` is chosen anew. ``None`` keeps what there is, as below.
            false_alarm_rate: Share of in-distribution texts that may be rejected; at most that with ``ood_examples``.
            class_conditional: Keep the rate within each predicted class.
            ood_examples: Out-of-distribution texts, to set the rate by.
            statistics: Labelled training texts, for a score that the model has no statistics of.

        Returns:
            A JSON-ready report.
        """
        if labels is not None and len(texts) != len(labels):
            raise DataError(f"there must be one label for each text; got {len(texts)} texts and {len(labels)} labels")
        self._model = self._fitted().calibrate(
            texts,
            labels,
            score=score,
            false_alarm_rate=false_alarm_rate,
            class_conditional=class_conditional,
            statistics=statistics,
        )
        rows = None if ood_examples is None else self.set_operating_point(ood_examples, false_alarm_rate)
        return {"documents": len(texts), "threshold": self.threshold_, **(self.detection_ or {}), "trade_off": rows}

    def set_operating_point(self, ood_examples: Sequence[Text], highest: float | None = None) -> list[dict[str, Any]]:
        """Set the false-alarm rate by examples of out-of-distribution texts.

        Args:
            ood_examples: The examples.
            highest: The rate may not exceed this; ``None``: a half.

        Returns:
            What each rate costs and catches, ready for JSON; the row that was chosen says so.
        """
        self._model, rows = self._fitted().at_operating_point(ood_examples, highest)
        return rows

    # Persistence ----------------------------------------------------------------------------------------------------

    def save_calibration(self, path: str | Path) -> Path:
        """Write score, threshold and temperature into the model folder ``path``, and nothing else of the model."""
        return self._fitted().save_detector(path)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the model folder, which plain transformers opens too. An existing one is only replaced if told so."""
        return self._fitted().save(path, overwrite=overwrite)

    @classmethod
    def load(
        cls,
        path: str | Path,
        backend: str | None = None,
        score: str | None = None,
        false_alarm_rate: float | None = None,
    ) -> MaskerClassifier:
        """Open a folder that :meth:`save`, ``masker train`` or ``masker export`` wrote.

        Args:
            path: The model folder.
            backend: What runs the network: ``torch``, ``torch-bf16``, or ``onnx`` and ``onnx-int8`` after an export;
                ``None`` takes torch unless the folder was exported without its weights.
            score: An out-of-distribution score in place of the model's own, calibrated on the same documents.
            false_alarm_rate: A rate in place of the model's own.

        Raises:
            ConfigError: When there is no such backend, or the model does not have that score.
            ModelError: When the folder is missing, foreign, damaged, not exported for ``backend``, or holds a pickle.
        """
        model = Model.load(path, backend, score, false_alarm_rate)
        self = cls.from_settings(model.settings)
        self._model = model
        return self

    # Inside ---------------------------------------------------------------------------------------------------------

    @property
    def is_regression(self) -> bool:
        """Whether the model predicts numbers instead of classes."""
        return self._fitted().is_regression

    @property
    def keywords_(self) -> KeywordSet | None:
        """The keywords it was trained with."""
        return self._fitted().system.keywords

    @property
    def validation_(self) -> dict[str, float]:
        """Accuracy (or Pearson correlation) on the validation documents."""
        return self._fitted().system.validation_metric

    @property
    def provenance_(self) -> dict[str, Any]:
        """Where the model comes from."""
        return self._fitted().provenance

    @property
    def detection_(self) -> dict[str, Any] | None:
        """Score, false-alarm rate, temperature and how they were found, ready for JSON; ``None`` for a regression."""
        detector = self._fitted().system.detector
        return None if detector is None else {"score": detector.score.name, **detector.to_manifest()}

    @property
    def threshold_(self) -> float | None:
        """Score above which a text is out-of-distribution; ``None`` for a regression. May be set."""
        detector = self._fitted().system.detector
        return None if detector is None else detector.calibration.threshold

    @threshold_.setter
    def threshold_(self, threshold: float) -> None:
        model = self._fitted()
        detector = model.detector("threshold_")
        self._model = model.with_detector(replace(detector, calibration=detector.calibration.with_threshold(threshold)))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def _fitted(self) -> Model:
        if not hasattr(self, "_model"):
            raise MaskerError("this classifier is not trained yet; call fit(texts, labels) or MaskerClassifier.load")
        return self._model
