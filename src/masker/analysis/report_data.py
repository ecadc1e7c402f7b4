"""What the report of a model shows. One structure, JSON-ready, made by :mod:`masker.commands.report`.

A part is empty or ``None`` if its documents were not given or the network cannot be read, and the page leaves it out. A
figure with an interval is ``{"value", "low", "high"}``; shares lie between 0 and 1.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

Figure = dict[str, float]


@dataclass(frozen=True)
class ModelFacts:
    """What the model is."""

    name: str
    method: str
    backbone: str
    classes: list[str]  # empty for a regression
    pairs: bool
    max_length: int
    data: str
    documents: int | None
    created: str
    score: str | None
    threshold: float | None
    promised: float | None  # false-alarm rate that the held-out documents guarantee
    confidence: float | None  # probability of that guarantee; ``None``: on average
    temperature: float | None


@dataclass(frozen=True)
class ClassFigures:
    """How well one class is recognised."""

    name: str
    documents: int
    right: Figure  # share with the right label, rejected or not
    rejected: Figure  # share rejected: false alarms


@dataclass(frozen=True)
class Confusion:
    """Answers by true class. Rejected documents have a column of their own, and sets without class a row."""

    rows: list[str]
    columns: list[str]
    cells: list[list[int]]  # row, column, documents; where there are any


@dataclass(frozen=True)
class ReliabilityBin:
    """Documents with similar confidence."""

    confidence: float  # mean
    documents: int
    right: Figure


@dataclass(frozen=True)
class KnownDocuments:
    """Labelled documents of the model's classes, and what it says of them."""

    name: str
    held_out: bool  # those that calibrated it, not a test set
    separate: bool  # they chose neither checkpoint nor score
    documents: int
    right: Figure  # share with the right label, with its exact interval
    majority: float  # share of the most frequent class
    classes: list[ClassFigures]
    confusion: Confusion
    reliability: list[ReliabilityBin]
    trained_on: bool = False  # they are the training documents themselves


@dataclass(frozen=True)
class ScoreHistogram:
    """Scores of each set of documents. Scores beyond the ends are counted in the outermost bins."""

    edges: list[float]
    counts: dict[str, list[int]]
    threshold: float
    by_class: bool  # some classes have a threshold of their own


@dataclass(frozen=True)
class DetectionCurve:
    """The ROC curve of one set of foreign documents, with the point where the model's decision rule lies."""

    false_positives: list[float]  # share of known documents
    true_positives: list[float]  # share of foreign documents
    point: tuple[float, float]


@dataclass(frozen=True)
class KeywordList:
    """The first keywords of a scheme."""

    scheme: str
    trained_with: bool
    total: int
    words: list[dict[str, Any]]  # word and score


@dataclass(frozen=True)
class KeywordRates:
    """How often the keywords of each class occur in the texts of each class, in percent of their tokens."""

    scheme: str
    keywords: dict[str, list[str]]
    rates: dict[str, dict[str, float]]  # class of the keywords -> class of the texts


@dataclass(frozen=True)
class MapPoint:
    """A document in the plane. Its text is ``None`` if texts are left out."""

    x: float
    y: float
    group: str
    label: str | None
    text: str | None


@dataclass(frozen=True)
class DocumentMap:
    """Documents in the plane, by t-SNE."""

    title: str
    groups: list[str]
    points: list[MapPoint]
    silhouette: float | None  # of the groups; ``None`` if there is one


@dataclass(frozen=True)
class AttendedWords:
    """The words that a model's document token attends to most, on average over documents that have them."""

    model: str
    documents: str
    words: list[dict[str, Any]]  # word and score


@dataclass(frozen=True)
class RiskyText:
    """A document whose answer may hurt."""

    text: str
    label: str
    predicted: str
    confidence: float
    p_value: float


@dataclass(frozen=True)
class Report:
    """What the report shows."""

    model: ModelFacts
    conclusion: list[str]
    evaluation: dict[str, Any] | None  # as ``masker evaluate`` gives it; of the held-out documents without a test set
    known: KnownDocuments | None = None
    scores: ScoreHistogram | None = None
    detection: dict[str, DetectionCurve] = field(default_factory=dict)
    values: list[list[float]] = field(default_factory=list)  # of a regression: true, predicted
    losses: dict[str, Any] = field(default_factory=dict)
    keywords: list[KeywordList] = field(default_factory=list)
    keyword_rates: KeywordRates | None = None
    maps: list[DocumentMap] = field(default_factory=list)
    attended: list[AttendedWords] = field(default_factory=list)
    risky: dict[str, list[RiskyText]] = field(default_factory=dict)
    decisions: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
