"""The answer for one text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from masker.detection.detector import Judgement


@dataclass(frozen=True)
class Prediction:
    """The answer for one text. A regression sets ``label`` to the predicted number and the rest to ``None``.

    Attributes:
        confidence: The probability of the label, calibrated on held-out documents.
        p_value: Approximately the share of in-distribution texts that look at least as strange.
        ood_score: Higher = more out-of-distribution.
        is_ood: Whether the score exceeds the model's threshold: "none of my classes".
    """

    label: Any
    confidence: float | None
    p_value: float | None
    ood_score: float | None
    is_ood: bool | None

    def as_dict(self, *, reject: bool = False) -> dict[str, Any]:
        """A JSON-ready dictionary; with ``reject`` the label of an out-of-distribution text is ``None``."""
        content: dict[str, Any] = dict(vars(self))  # asdict() would take most of the time of a service
        if reject and self.is_ood:
            content["label"] = None
        return content


@dataclass(frozen=True)
class LabelSetPrediction(Prediction):
    """The answer for one text that may have several labels.

    Attributes:
        label: The most probable label, whether it is given or not.
        labels: The labels that are given, most probable first; empty for "none of them".
        label_confidence: The probability of each of them.
    """

    labels: tuple[Any, ...] = ()
    label_confidence: tuple[float, ...] = ()

    def as_dict(self, *, reject: bool = False) -> dict[str, Any]:
        """A JSON-ready dictionary; with ``reject`` the labels of an out-of-distribution text are ``None``."""
        rejected = reject and self.is_ood
        return {
            "labels": None if rejected else list(self.labels),
            "confidence": list(self.label_confidence),
            "none": not self.labels,
            "p_value": self.p_value,
            "ood_score": self.ood_score,
            "is_ood": self.is_ood,
        }


def predictions_of(judged: Judgement, labels: Sequence[Any]) -> list[Prediction]:
    """One prediction per document from a judgement; ``labels`` are the classes in the order of the outputs."""
    if judged.given is not None:
        return _label_sets(judged, judged.given, labels)
    columns = (judged.predicted, judged.probabilities.max(axis=1), judged.p_values, judged.scores, judged.rejected)
    return [
        Prediction(labels[index], float(confidence), float(p_value), float(score), bool(out))
        for index, confidence, p_value, score, out in zip(*columns, strict=True)
    ]


def _label_sets(judged: Judgement, given: npt.NDArray[np.bool_], labels: Sequence[Any]) -> list[Prediction]:
    answers: list[Prediction] = []
    columns = (judged.predicted, judged.p_values, judged.scores, judged.rejected)
    for row, (best, p_value, score, out) in enumerate(zip(*columns, strict=True)):
        probabilities = judged.probabilities[row]
        places = sorted(given[row].nonzero()[0], key=lambda place: -probabilities[place])
        answers.append(
            LabelSetPrediction(
                labels[best],
                float(probabilities[best]),
                float(p_value),
                float(score),
                bool(out),
                tuple(labels[place] for place in places),
                tuple(float(probabilities[place]) for place in places),
            )
        )
    return answers
