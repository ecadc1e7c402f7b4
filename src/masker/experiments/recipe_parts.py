"""The parts of a recipe: documents, systems, scales, the table and the analysis."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from masker.experiments.replaced_corpora import STAND_INS, StandIn

Layer = dict[str, dict[str, Any]]

#: Open-set figures of a recipe, and their names in the report of an evaluation.
OPEN_SET_METRICS = {
    "open_accuracy": "accuracy", "open_f1": "macro_f1", "f1_known": "f1_known", "f1_unknown": "f1_unknown",
}  # fmt: skip
#: Figures of an out-of-distribution set; every other figure belongs to a labelled test set.
DETECTION_METRICS = (
    "auroc", "eer", "detection_accuracy", "tnr_at_tpr80", "aupr", "fpr_at_tpr95", "rejected", *OPEN_SET_METRICS,
)  # fmt: skip
Metric = Literal[
    "auroc", "eer", "detection_accuracy", "tnr_at_tpr80", "aupr", "fpr_at_tpr95", "rejected",
    "open_accuracy", "open_f1", "f1_known", "f1_unknown",
    "accuracy", "macro_f1", "ece", "gap", "pearson", "spearman", "false_alarms",
]  # fmt: skip
OpenWorldPart = Literal["discover", "extend", "review"]
Key = Literal["train", "test", "backbone", "system", "metric"]


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _known_stand_ins(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    unknown = [name for name in value if name not in STAND_INS]
    if unknown:
        raise ValueError(f"there is no stand-in for '{unknown[0]}'; known: {', '.join(STAND_INS)}")
    return {name: STAND_INS[name] for name in value}


def read_by(system: str, score: str) -> str:
    """The name of a system that is read by a score; without one, its own name."""
    return f"{system}:{score}" if score else system


class RecipePart(BaseModel):
    """Base of every part: immutable, and unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Selection(RecipePart):
    """Documents of a named corpus; ``genre`` and ``labels`` restrict them to some rows and classes."""

    corpus: str
    split: Annotated[list[str], BeforeValidator(_listed)]  # one, or several to be joined
    genre: list[str] = Field(default_factory=list)
    labels: list[str] = Field(default_factory=list)  # others are removed before known classes are drawn
    without_labels: list[str] = Field(default_factory=list)  # removed before known classes are drawn
    #: Share of the classes that is known, drawn with seed 0, or with the seed of the run if the recipe says
    #: ``split_by_seed``; ``classes`` are the known ones (seen) or the others. A test set may also take the classes of
    #: the training documents (trained), whatever selected those.
    class_ratio: float | None = Field(default=None, gt=0.0, le=1.0)
    classes: Literal["seen", "unseen", "trained"] = "seen"
    per_class: int | None = Field(default=None, ge=1)  # at most this many of each class, drawn with that same seed
    documents: int | None = Field(default=None, ge=1)  # at most this many, drawn with seed 0; None: as the scale says


#: The parts of one test set; a single selection needs no list.
Selections = Annotated[list[Selection], BeforeValidator(_listed), Field(min_length=1)]


class Source(RecipePart):
    """What a model is trained on and where it is tested, and whether the paper has figures for it."""

    train: Selection
    tests: dict[str, Selections] = Field(min_length=1)  # labelled; the first belongs to the training domain
    ood: dict[str, Selections] = Field(default_factory=dict)
    paper: str | None = None  # the paper's name for the training corpus, if the recipe uses another
    paper_tests: dict[str, str | None] = Field(default_factory=dict)  # likewise for test sets; None: not in the paper
    in_paper: bool = True
    settings: Layer = Field(default_factory=dict)


class System(RecipePart):
    """What is trained: a layer of settings over those of the recipe, above all ``training.method``.

    A system starts from the paper's settings, or from the package's ``defaults``: then it is trained exactly as
    ``masker train`` would with these settings, in one stage of its own.
    """

    title: str
    start: Literal["paper", "defaults"] = "paper"
    settings: Layer = Field(default_factory=dict)
    score: str | None = None  # instead of the model's own; systems that differ in nothing else share a model
    in_paper: bool = True
    backbone_free: bool = False  # it has no encoder, so it runs once instead of once per encoder
    part: OpenWorldPart | None = None  # what the analysis ``open-world`` does with it
    sources: list[str] | None = None  # that it is run on; None: all


class Encoder(RecipePart):
    """An encoder, under the name of the paper's column that it is compared with."""

    model: str
    #: By system or, for those that start from the paper's settings, by method; others use the package's default.
    epochs: dict[str, int] = Field(default_factory=dict)
    settings: Layer = Field(default_factory=dict)


class Scale(RecipePart):
    """The size at which a recipe is run; ``None`` takes all documents, sources or systems."""

    hardware: str  # that it is designed for
    backbones: dict[str, Encoder] = Field(min_length=1)  # by the paper's column
    seeds: list[int] = Field(min_length=1)
    train_documents: int | None = Field(default=None, ge=2)  # at most
    test_documents: int | None = Field(default=None, ge=1)  # at most, in each test set
    class_ratio: float | None = Field(default=None, gt=0.0, le=1.0)  # replaces that of every selection with a ratio
    #: By the corpus that is replaced: those of :mod:`masker.experiments.replaced_corpora` by name, or the user's own.
    stand_ins: Annotated[dict[str, StandIn], BeforeValidator(_known_stand_ins)] = Field(default_factory=dict)
    settings: Layer = Field(default_factory=dict)
    sources: list[str] | None = None
    systems: list[str] | None = None
    notes: list[str] = Field(default_factory=list)  # what a reader of the results must know


class PairedQuestion(RecipePart):
    """A question for the paired test: is ``system`` better than ``baseline`` in ``metric``?"""

    system: str
    baseline: str
    metric: Metric | Literal["reliance"]


class Halves(RecipePart):
    """A search among systems: choose on some sources, confirm on the others, each against the same baseline.

    The figures are the recipe's metrics. The first of them chooses.
    """

    baseline: str  # a system; read by the same score as the one it is compared with
    choose: list[str] = Field(min_length=1)
    confirm: list[str] = Field(min_length=1)


class TableLayout(RecipePart):
    """Which keys of a cell form rows and columns; any other key that distinguishes cells is added to the rows."""

    rows: list[Key]
    columns: list[Key]


class RelianceOptions(RecipePart):
    """How the analysis ``reliance`` audits each model: with each kind of keywords and each masking in turn.

    The keywords ``training`` are those that the recipe's MASKER was trained with; the others are found in the test set,
    ``per_class`` of them. The seed is that of the audit, the same for models of all training seeds.
    """

    keywords: list[Literal["training", "frequency", "occlusion", "attention"]] = Field(min_length=1)
    masking: list[Literal["drop", "mask"]] = Field(min_length=1)
    documents: int = Field(default=1000, ge=2)
    per_class: int = Field(default=10, ge=1)
    seed: int = Field(default=0, ge=0, lt=2**32)


class DiscoverPart(RecipePart):
    """Groups among the texts of unseen classes, and the k-means that they are compared with."""

    most_groups: int = Field(default=100, ge=2)
    k_means_runs: int = Field(default=3, ge=1)


class ExtendPart(RecipePart):
    """Texts of each unseen class that the model is extended by."""

    new_texts: int = Field(default=10, ge=2)


class ReviewPart(RecipePart):
    """How many texts are chosen, and of how many."""

    pool: int = Field(default=1500, ge=2)
    budgets: list[Annotated[int, Field(ge=1)]] = Field(default=[50, 100, 200], min_length=1)


class OpenWorldOptions(RecipePart):
    """How the parts of the analysis ``open-world`` are measured."""

    discover: DiscoverPart = DiscoverPart()
    extend: ExtendPart = ExtendPart()
    review: ReviewPart = ReviewPart()
    #: Seeds whose figures have chosen something about these commands: comparisons leave them out.
    chosen_on: list[int] = Field(default_factory=list)


class Analysis(RecipePart):
    """What is done with each model instead of measuring it, mostly for a figure of the paper.

    ========== =====================================================================================
    keywords   the ranked keywords of the training documents
    heatmap    how often the keywords of each class occur in the documents of each class
    tsne       document embeddings of two sets in the plane, and how well the sets are separated
    attention  the words of a test set that the model attends to most
    reliance   how much the model relies on keywords (``masker audit``); systems are compared as in a table
    open-world what ``masker discover``, ``extend`` or ``review`` make of unseen classes, each system one ``part``
    ========== =====================================================================================
    """

    kind: Literal["keywords", "heatmap", "tsne", "attention", "reliance", "open-world"]
    figure: str | None = None  # label in the paper
    shows: str | None = None  # what that figure shows, after "the paper's figure shows"
    options: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_options(self) -> Analysis:
        known: dict[str, type[RecipePart]] = {"reliance": RelianceOptions, "open-world": OpenWorldOptions}
        checked = known.get(self.kind)
        if checked is not None:
            try:
                checked.model_validate(self.options)
            except ValidationError as error:
                problem = error.errors()[0]
                raise ValueError(f"options.{'.'.join(map(str, problem['loc']))}: {problem['msg']}") from None
        return self
