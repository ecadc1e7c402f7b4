"""The evidence for one answer, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from masker.detection.prediction import Prediction
from masker.documents.word_spans import Span
from masker.evidence.training_examples import NearestExample


@dataclass(frozen=True)
class PartEvidence:
    """A word (wherever it occurs, unless windows read the text) or a run of words, and what changes without it.

    Attributes:
        spans: Where it is.
        support: The probability that the label loses; for a regression, how much the number falls.
        strangeness: How much the out-of-distribution score falls; ``None`` for a regression.
        label: The answer without the part.
        is_ood: The verdict without the part.
    """

    spans: list[Span]
    support: float
    strangeness: float | None
    label: Any
    is_ood: bool | None


@dataclass(frozen=True)
class KeywordEvidence:
    """The keywords of a text.

    Attributes:
        source: The scheme that selected them.
        spans: Where they are.
        masked: The answer when they are masked; ``None`` if the text has none.
        only: The answer when only they remain; ``None`` if the text has none.
    """

    source: str
    spans: list[Span]
    masked: Prediction | None
    only: Prediction | None


@dataclass(frozen=True)
class NearestClasses:
    """The classes that a text is nearest to.

    Attributes:
        by: ``class means``: the cosine of the angle, seen from the mean of all training texts, between the text and the
            mean of the class; ``probability``: of the class, for models that keep no means.
        classes: Labels with the cosine or the probability, highest first.
    """

    by: Literal["class means", "probability"]
    classes: list[tuple[Any, float]]


@dataclass(frozen=True)
class AnswerEvidence:
    """What the answer for one text rests on.

    Attributes:
        prediction: The answer.
        read_to: Characters of the text, and of its pair, that the model reads; the rest is cut off.
        single_words: Whether parts are words; otherwise they are runs of words.
        parts: In the order of the text.
        keywords: ``None`` if the model has no keywords.
        nearest: ``None`` for a regression.
        examples: The nearest training texts; ``None`` if the model keeps none.
    """

    prediction: Prediction
    read_to: list[int]
    single_words: bool
    parts: list[PartEvidence]
    keywords: KeywordEvidence | None
    nearest: NearestClasses | None
    examples: list[NearestExample] | None = None

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, without the prediction."""
        content = asdict(self)
        del content["prediction"]
        if self.nearest is not None:
            content["nearest"]["classes"] = [{"label": label, "value": value} for label, value in self.nearest.classes]
        return content
