"""MaskerClassifier: the one facade that library, command line and service share."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, ClassifierMixin

from masker import processes
from masker.config import Settings, build_settings
from masker.data import Documents, check_classes
from masker.data.encoding import encode
from masker.data.texts import Text, split_pairs
from masker.data.texts import texts_of as texts_of
from masker.errors import ConfigError, DataError, MaskerError, ModelError
from masker.keywords import KeywordSet
from masker.modeling.checkpoint import load_manifest, save_folder
from masker.modeling.scorer import Outputs, Scorer, document_outputs
from masker.provenance import provenance
from masker.scoring.evaluation import evaluate_classification, evaluate_regression
from masker.scoring.max_probability import class_probabilities
from masker.scoring.score import Score
from masker.scoring.threshold import quantile_threshold
from masker.systems import fit_system, open_system, score_tensors

#: Rows that are scored together when predicting from a stream: enough to sort by length, little memory.
STREAM_CHUNK = 2048

_LABEL_TYPES: dict[str, Callable[[str], Any]] = {"str": str, "int": int, "float": float}


@dataclass(frozen=True)
class Prediction:
    """What the classifier says of one text. For a regression ``label`` is the predicted number, the rest is ``None``.

    Attributes:
        label: The most probable class.
        confidence: Its probability.
        ood_score: Higher = more out-of-distribution.
        is_ood: Whether the score exceeds the model's threshold: "none of my classes".
    """

    label: Any
    confidence: float | None
    ood_score: float | None
    is_ood: bool | None

    def as_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        return asdict(self)


class MaskerClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A text classifier that can say "this is not one of my classes".

    Follows scikit-learn: ``fit``, ``predict``, ``predict_proba``, ``score``, ``get_params``, ``clone``.

    Args:
        method: ``masker``, ``vanilla``, ``residual``, ``openmax``, ``doc`` or ``ocsvm``; see docs/systems.md.
        head: ``one-vs-rest``, ``multi-class`` or ``regression``; ``None`` takes 1-vs-rest, or what the method needs.
        keywords: ``attention``, ``frequency``, ``random`` or a file of words.
        backbone: Embedded name, hub id or folder.
        epochs: Passes over the data; ``None`` takes the paper's number.
        max_length: Tokens of a document that are read.
        seed: Same seed, same machine: same model.
        false_alarm_rate: Share of in-distribution texts that may be called out-of-distribution.
        preset: ``ood`` or ``cross-domain``, the paper's loss weights.
        settings: Any further settings, ``{"section": {"key": value}}``; see :mod:`masker.config`.
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
        if settings.model.head == "regression":
            documents = Documents(first, pairs, [float(value) for value in values], "fit")
        else:
            documents = Documents(first, pairs, [str(value) for value in values], "fit")
        kind = "int" if values and all(isinstance(value, int) for value in values) else "str"
        with processes.temporary_folder() as work:
            return self.fit_documents(documents, settings, work, label_type=kind)

    def fit_documents(
        self, documents: Documents, settings: Settings, work: Path, *, label_type: str = "str"
    ) -> MaskerClassifier:
        """Train on a corpus with full settings; ``work`` keeps what an interrupted run needs to go on."""
        classes: list[str] = []
        if settings.model.head != "regression":
            check_classes(documents)
            classes = documents.class_names
            if label_type == "int":
                classes.sort(key=int)
        system = fit_system(documents, classes, settings, work)
        self._settings = settings
        self._tokenizer, self._max_length = system.tokenizer, system.max_length
        self._tokenizer.model_max_length = self._max_length
        self._scorer: Scorer = system.scorer
        self._score: Score = system.score
        self._tensors: dict[str, torch.Tensor] = system.tensors | score_tensors(system.score)
        self.keywords_ = system.keywords
        self._label_type = label_type
        self._class_names = classes
        self._pairs = documents.pairs is not None
        self.validation_ = system.validation_metric
        self.provenance_ = provenance(
            seed=settings.training.seed, data=documents.name, data_sha256=documents.fingerprint(), rows=len(documents)
        )
        self.threshold_: float | None = None
        if system.validation_scores is not None:
            self._tensors["validation_scores"] = torch.from_numpy(system.validation_scores)
            if settings.detection.rule == "published":
                self.threshold_ = system.score.published_threshold
            else:
                self.threshold_ = quantile_threshold(system.validation_scores, settings.detection.false_alarm_rate)
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
            settings=settings.model_dump(),
        )

    def _build_settings(self) -> Settings:
        return build_settings(
            {
                "training": {"method": self.method, "epochs": self.epochs, "seed": self.seed},
                "model": {"head": self.head, "backbone": self.backbone, "max_length": self.max_length},
                "keywords": {"source": self.keywords},
                "detection": {"false_alarm_rate": self.false_alarm_rate},
            },
            self.settings,
            preset=self.preset,
        )

    # Prediction -----------------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The classes, in the order of :meth:`predict_proba`'s columns."""
        convert = _LABEL_TYPES[self._label_type]
        return np.array([convert(name) for name in self._class_names])

    def doc_logits(
        self, texts: Sequence[Text], advance: Callable[[int], None] | None = None
    ) -> npt.NDArray[np.float32]:
        """(N, C) raw outputs of f_doc."""
        return self._outputs(texts, advance, features=False).logits

    def _outputs(self, texts: Sequence[Text], advance: Callable[[int], None] | None, *, features: bool) -> Outputs:
        """Logits and, where asked for, features: all that a score is made of."""
        self._require_fitted()
        first, pairs = split_pairs(texts)
        if not first:
            return Outputs(np.empty((0, self._scorer.n_outputs), dtype=np.float32))
        if (pairs is not None) != self._pairs:
            expected = "pairs of texts (columns text and text_pair)" if self._pairs else "single texts"
            raise DataError(f"this model was trained on {expected}; the input is of the other kind")
        model = self._settings.model
        encoded = encode(
            self._tokenizer,
            first,
            pairs,
            self._max_length,
            windows=model.long_documents == "windows",
            window_overlap=model.window_overlap,
        )
        return document_outputs(self._scorer, encoded, model.window_pooling, advance, features=features)

    def _judge(
        self, texts: Sequence[Text], advance: Callable[[int], None] | None = None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """(N, C) probabilities and (N,) out-of-distribution scores, from one pass."""
        outputs = self._outputs(texts, advance, features=self._score.reads_features)
        probabilities = class_probabilities(outputs.logits, self._settings.model.head)
        return probabilities, self._score.ood_score(outputs) if len(probabilities) else np.empty(0)

    def predict(self, texts: Sequence[Text]) -> npt.NDArray[Any]:
        """The most probable class of each text, or the predicted number of a regression."""
        logits = self.doc_logits(texts)
        return logits[:, 0] if self.is_regression else self.classes_[logits.argmax(axis=1)]

    def predict_proba(self, texts: Sequence[Text]) -> npt.NDArray[np.float64]:
        """(N, C) probabilities; those of a 1-vs-rest head need not sum to 1."""
        self._require_classes("predict_proba")
        return class_probabilities(self.doc_logits(texts), self._settings.model.head)

    def ood_score(self, texts: Sequence[Text]) -> npt.NDArray[np.float64]:
        """(N,) scores, higher = more out-of-distribution."""
        self._require_classes("ood_score")
        return self._judge(texts)[1]

    def is_ood(self, texts: Sequence[Text]) -> npt.NDArray[np.bool_]:
        """(N,) true where a text is none of the classes."""
        return self.ood_score(texts) > self._threshold()

    def predict_texts(self, texts: Sequence[Text], advance: Callable[[int], None] | None = None) -> list[Prediction]:
        """Label, confidence, score and decision of each text, from one pass."""
        self._require_fitted()
        if self.is_regression:
            return [Prediction(float(value), None, None, None) for value in self.doc_logits(texts, advance)[:, 0]]
        probabilities, scores = self._judge(texts, advance)
        labels = self.classes_[probabilities.argmax(axis=1)].tolist()
        threshold = self._threshold()
        return [
            Prediction(label, float(certain), float(score), bool(score > threshold))
            for label, certain, score in zip(labels, probabilities.max(axis=1), scores, strict=True)
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
        advance: Callable[[int], None] | None = None,
    ) -> dict[str, Any]:
        """Measure the classifier on labelled test documents and, by name, on out-of-distribution ones.

        Returns:
            A JSON-ready report; each figure is ``{"value", "low", "high"}`` with a 95 % bootstrap interval.
        """
        assert test.labels is not None
        seed = self._settings.training.seed
        if self.is_regression:
            if ood:
                raise ConfigError("a regression has no classes to be out of; evaluate it without --ood")
            logits = self.doc_logits(texts_of(test), advance)
            figures = evaluate_regression(
                logits, [float(label) for label in test.labels], resamples=resamples, seed=seed
            )
        else:
            probabilities, scores = self._judge(texts_of(test), advance)
            figures = evaluate_classification(
                probabilities,
                scores,
                [str(label) for label in test.labels],
                self._class_names,
                self._threshold(),
                {name: self._judge(texts_of(documents), advance)[1] for name, documents in (ood or {}).items()},
                resamples=resamples,
                seed=seed,
            )
        return {
            "test": test.name,
            "documents": len(test),
            **figures,
            "provenance": provenance(seed=seed, data_sha256=test.fingerprint(), trained=self.provenance_),
        }

    # Persistence ----------------------------------------------------------------------------------------------------

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the model folder, which plain transformers opens too. An existing one is only replaced if told so."""
        self._require_fitted()
        weights = self._scorer.weights()
        if weights is None:
            raise ModelError(
                "this backend does not hold the full weights; load the model with backend='torch' to save it"
            )
        if overwrite and Path(path).is_dir():
            load_manifest(path)  # only ever delete what is a model of ours
            shutil.rmtree(path)
        manifest = {
            "label_type": self._label_type,
            "classes": self._class_names,
            "pairs": self._pairs,
            "max_length": self._max_length,
            "score": self._score.name,
            "threshold": self.threshold_,
            "validation": self.validation_,
            "keywords": None if self.keywords_ is None else self.keywords_.to_json(),
            "settings": self._settings.model_dump(),
            "provenance": self.provenance_,
        }
        return save_folder(path, weights.native, self._tokenizer, manifest, {**self._tensors, **weights.tensors})

    @classmethod
    def load(cls, path: str | Path, backend: str | None = None) -> MaskerClassifier:
        """Open a folder that :meth:`save`, ``masker train`` or ``masker export`` wrote.

        Args:
            path: The model folder.
            backend: What runs the network: ``torch``, ``torch-bf16``, or ``onnx`` and ``onnx-int8`` after an export;
                ``None`` takes torch unless the folder was exported without its weights.

        Raises:
            ModelError: When the folder is missing, foreign, damaged, not exported for ``backend``, or holds a pickle.
        """
        stored = load_manifest(path)
        manifest = stored.manifest
        try:
            settings = Settings.model_validate(manifest["settings"])
            keywords = manifest["keywords"]
            self = cls.from_settings(settings)
            self._settings = settings
            self._label_type, self._class_names = manifest["label_type"], manifest["classes"]
            self._pairs = manifest["pairs"]
            self._max_length, self.threshold_ = manifest["max_length"], manifest["threshold"]
            self.validation_, self.provenance_ = manifest["validation"], manifest["provenance"]
            self.keywords_ = None if keywords is None else KeywordSet.from_json(keywords)
            self._tensors = stored.tensors
        except (KeyError, TypeError, ValueError, MaskerError) as error:
            raise ModelError(f"masker.json in '{path}' is damaged ({error!r}); restore or retrain the model") from None
        try:
            system = open_system(path, stored, settings, backend)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"the statistics in '{path}' are damaged ({error!r}); restore or retrain it") from None
        self._tokenizer, self._scorer, self._score = system.tokenizer, system.scorer, system.score
        return self

    # Inside ---------------------------------------------------------------------------------------------------------

    @property
    def is_regression(self) -> bool:
        """Whether the model predicts numbers instead of classes."""
        return self._settings.model.head == "regression"

    def _threshold(self) -> float:
        assert self.threshold_ is not None
        return self.threshold_

    def _require_fitted(self) -> None:
        if not hasattr(self, "_scorer"):
            raise MaskerError("this classifier is not trained yet; call fit(texts, labels) or MaskerClassifier.load")

    def _require_classes(self, name: str) -> None:
        self._require_fitted()
        if self.is_regression:
            raise MaskerError(f"{name} needs classes, and this model is a regression; use predict")
