"""The answer for one text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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


def predictions_of(judged: Judgement, labels: Sequence[Any]) -> list[Prediction]:
    """One prediction per document from a judgement; ``labels`` are the classes in the order of the outputs."""
    columns = (judged.predicted, judged.probabilities.max(axis=1), judged.p_values, judged.scores, judged.rejected)
    return [
        Prediction(labels[index], float(confidence), float(p_value), float(score), bool(out))
        for index, confidence, p_value, score, out in zip(*columns, strict=True)
    ]
