"""How often an exported classifier gives the original's answers, on the user's texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from masker.detection.prediction import LabelSetPrediction, Prediction
from masker.documents import Documents
from masker.documents.texts import texts_of
from masker.labels import label_matrix
from masker.metrics import accuracy, auroc, mean_squared_error, micro_f1, pearson
from masker.model import Model

Advance = Callable[[int], None]


@dataclass(frozen=True)
class CheckData:
    """Texts to compare backends on.

    Attributes:
        test: Labelled in-distribution documents.
        ood: Out-of-distribution documents, by name.
    """

    test: Documents
    ood: dict[str, Documents] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.test) + sum(map(len, self.ood.values()))


def compare_backends(
    original: Model,
    exported: dict[str, Model],
    data: CheckData,
    advance: Advance | None = None,
) -> dict[str, Any]:
    """Let every backend predict the same texts.

    Returns:
        A JSON-ready report: the quality of each backend and, for each exported one, the share of test labels and of
        ``is_ood`` decisions (on all texts) that agree with the original, and the largest difference in confidence.
    """
    backends: dict[str, Any] = {}
    reference: dict[str, list[Prediction]] | None = None
    for name, classifier in {"torch": original, **exported}.items():
        answers = {"": classifier.predict(texts_of(data.test), advance)}
        answers |= {source: classifier.predict(texts_of(texts), advance) for source, texts in data.ood.items()}
        backends[name] = _quality(answers, data, original.is_regression)
        if reference is None:
            reference = answers
        else:
            backends[name] |= _agreement(reference, answers, original.is_regression)
    sets = {data.test.name: len(data.test)} | {name: len(documents) for name, documents in data.ood.items()}
    return {"documents": sets, "backends": backends}


def _quality(answers: dict[str, list[Prediction]], data: CheckData, regression: bool) -> dict[str, Any]:
    assert data.test.labels is not None
    if regression:
        truth = np.array([float(str(label)) for label in data.test.labels])
        predicted = np.array([answer.label for answer in answers[""]], dtype=np.float64)
        return {"pearson": pearson(truth, predicted), "mse": mean_squared_error(truth, predicted)}
    scores = _scores(answers[""])
    found = {name: auroc(scores, _scores(answers[name])) for name in data.ood}
    if data.test.is_multi_label:
        given = [[str(label) for label in answer_labels(answer)] for answer in answers[""]]
        names = sorted({*data.test.class_names, *(label for labels in given for label in labels)})
        return {"micro_f1": micro_f1(label_matrix(data.test.labels, names), label_matrix(given, names)), "auroc": found}
    answered = [str(answer.label) for answer in answers[""]]
    return {"accuracy": accuracy([str(label) for label in data.test.labels], answered), "auroc": found}


def answer_labels(answer: Prediction) -> tuple[Any, ...]:
    """The labels of an answer, in no order that rounding could change; of a model of classes, the only one."""
    return tuple(sorted(answer.labels, key=str)) if isinstance(answer, LabelSetPrediction) else (answer.label,)


def _agreement(
    reference: dict[str, list[Prediction]], answers: dict[str, list[Prediction]], regression: bool
) -> dict[str, Any]:
    def same(name: str, sets: Sequence[str]) -> float:
        pairs = [pair for key in sets for pair in zip(reference[key], answers[key], strict=True)]
        return float(np.mean([getattr(before, name) == getattr(after, name) for before, after in pairs]))

    def largest_difference(name: str) -> float:
        pairs = [pair for key in reference for pair in zip(reference[key], answers[key], strict=True)]
        return float(max(abs(getattr(before, name) - getattr(after, name)) for before, after in pairs))

    tested = list(zip(reference[""], answers[""], strict=True))
    if regression:
        return {"max_difference": largest_difference("label")}
    return {
        "label_agreement": float(np.mean([answer_labels(before) == answer_labels(after) for before, after in tested])),
        "is_ood_agreement": same("is_ood", list(reference)),
        "max_confidence_difference": largest_difference("confidence"),
    }


def _scores(answers: Sequence[Prediction]) -> list[float]:
    return [float(answer.ood_score) for answer in answers if answer.ood_score is not None]
