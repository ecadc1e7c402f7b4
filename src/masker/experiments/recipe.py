"""Recipes: the tables and figures of the paper as data.

A recipe says which systems are trained on which documents, what is measured, which table of the paper it answers, and
at which scales it can be run. It is a YAML file, one of those in ``recipes/`` or the user's own. Settings in it are the
sections and keys of :mod:`masker.config`; they are checked when a run is planned, so a recipe can be read before the
method it names exists.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from masker.config import ScoreName
from masker.errors import ConfigError, did_you_mean

Layer = dict[str, dict[str, Any]]
ScaleName = Literal["small", "paper"]

#: Figures of an out-of-distribution set; every other figure belongs to a labelled test set.
DETECTION_METRICS = ("auroc", "eer", "detection_accuracy", "tnr_at_tpr80", "aupr", "fpr_at_tpr95", "rejected")
Metric = Literal[
    "auroc", "eer", "detection_accuracy", "tnr_at_tpr80", "aupr", "fpr_at_tpr95", "rejected",
    "accuracy", "macro_f1", "ece", "gap", "pearson", "spearman", "false_alarms",
]  # fmt: skip
Key = Literal["train", "test", "backbone", "system", "metric"]


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Selection(_Part):
    """Documents of a corpus by name.

    Attributes:
        corpus: A name that ``masker data list`` knows.
        split: One split or several that are joined.
        genre: Only rows of these genres.
        labels: Only these classes.
        without_labels: All classes but these; left out before classes are drawn.
        class_ratio: Share of the classes that is known; which ones is drawn with seed 0, or with the
            seed of the run where the recipe says ``split_by_seed``.
        classes: The known (``seen``) or the other (``unseen``) classes.
        documents: At most so many, drawn with seed 0; ``None`` takes what the scale says.
    """

    corpus: str
    split: Annotated[list[str], BeforeValidator(_listed)]
    genre: list[str] = Field(default_factory=list)
    labels: list[str] = Field(default_factory=list)
    without_labels: list[str] = Field(default_factory=list)
    class_ratio: float | None = Field(default=None, gt=0.0, le=1.0)
    classes: Literal["seen", "unseen"] = "seen"
    documents: int | None = Field(default=None, ge=1)


#: The parts of one test set; a single selection may be written without a list.
Selections = Annotated[list[Selection], BeforeValidator(_listed), Field(min_length=1)]


class Source(_Part):
    """What a model is trained on, and where it is tested.

    Attributes:
        train: The training documents.
        tests: Labelled test sets by name; the first is that of the training domain.
        ood: Out-of-distribution sets by name.
        paper: The paper's name of the training corpus, when the recipe calls it differently.
        paper_tests: The paper's names of test sets that the recipe calls differently; ``None``: not in the paper.
        in_paper: Whether the paper has figures for it at all.
        settings: A layer for models of this source.
    """

    train: Selection
    tests: dict[str, Selections] = Field(min_length=1)
    ood: dict[str, Selections] = Field(default_factory=dict)
    paper: str | None = None
    paper_tests: dict[str, str | None] = Field(default_factory=dict)
    in_paper: bool = True
    settings: Layer = Field(default_factory=dict)


class System(_Part):
    """What is trained: a layer of settings over those of the recipe.

    Attributes:
        title: How tables call it.
        settings: The layer; ``training.method`` is the method.
        in_paper: Whether the paper has figures for it.
        backbone_free: It has no encoder, so it is run once and not for every backbone.
        score: It is evaluated with this score instead of its own; systems that differ in nothing else are one model.
    """

    title: str
    settings: Layer = Field(default_factory=dict)
    score: ScoreName | None = None
    in_paper: bool = True
    backbone_free: bool = False


class Backbone(_Part):
    """An encoder, under the name of the paper's column that it is compared with."""

    model: str
    epochs: dict[str, int] = Field(default_factory=dict)  # by system or method; others take the package's default
    settings: Layer = Field(default_factory=dict)


class StandIn(_Part):
    """The corpus that takes the place of one that cannot be had."""

    corpus: str
    without_labels: list[str] = Field(default_factory=list)
    reason: str


class Scale(_Part):
    """How large a recipe is run.

    Attributes:
        hardware: What it is meant for.
        backbones: Encoders by the paper's column.
        seeds: One training run each.
        train_documents: At most so many training documents; ``None``: all.
        test_documents: At most so many documents in a test set; ``None``: all.
        class_ratio: Replaces the ratio of every selection that has one.
        stand_ins: Corpora that replace others.
        settings: A layer over the recipe's settings.
        sources: Only these sources; ``None``: all.
        systems: Only these systems; ``None``: all.
        notes: What a reader of the results has to know.
    """

    hardware: str
    backbones: dict[str, Backbone] = Field(min_length=1)
    seeds: list[int] = Field(min_length=1)
    train_documents: int | None = Field(default=None, ge=2)
    test_documents: int | None = Field(default=None, ge=1)
    class_ratio: float | None = Field(default=None, gt=0.0, le=1.0)
    stand_ins: dict[str, StandIn] = Field(default_factory=dict)
    settings: Layer = Field(default_factory=dict)
    sources: list[str] | None = None
    systems: list[str] | None = None
    notes: list[str] = Field(default_factory=list)


class Comparison(_Part):
    """A question for the paired test: is ``system`` better than ``baseline`` in ``metric``?"""

    system: str
    baseline: str
    metric: Metric | Literal["reliance"]


class TableLayout(_Part):
    """Which keys of a cell make up rows and columns; others go into the rows where they tell cells apart."""

    rows: list[Key]
    columns: list[Key]


class RelianceOptions(_Part):
    """How the analysis ``reliance`` audits each model.

    Attributes:
        keywords: Kinds of keywords: ``training`` are those that the recipe's MASKER was trained with, the others are
            found in the test set.
        masking: Whether masked words are left out, replaced by the mask token, or one after the other.
        documents: At most so many documents of the test set.
        per_class: Keywords of a class, where they are found.
        seed: Of the audit, the same for models of all training seeds.
    """

    keywords: list[Literal["training", "frequency", "occlusion", "attention"]] = Field(min_length=1)
    masking: list[Literal["drop", "mask"]] = Field(min_length=1)
    documents: int = Field(default=1000, ge=2)
    per_class: int = Field(default=10, ge=1)
    seed: int = Field(default=0, ge=0, lt=2**32)


class Analysis(_Part):
    """What is done with each model instead of measuring it, mostly for a figure of the paper.

    ========== =====================================================================================
    keywords   the ranked keywords of the training documents
    heatmap    how often the keywords of each class stand in the documents of each class
    tsne       document embeddings of two sets in the plane, and how far the sets are apart
    attention  the words of a test set that the model attends to most
    reliance   how much the model leans on keywords (``masker audit``); systems are compared as in a table
    ========== =====================================================================================
    """

    kind: Literal["keywords", "heatmap", "tsne", "attention", "reliance"]
    figure: str | None = None  # of the paper
    options: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_options(self) -> Analysis:
        if self.kind == "reliance":
            try:
                RelianceOptions.model_validate(self.options)
            except ValidationError as error:
                problem = error.errors()[0]
                raise ValueError(f"options.{'.'.join(map(str, problem['loc']))}: {problem['msg']}") from None
        return self


class Recipe(_Part):
    """One table or figure of the paper."""

    name: str
    title: str
    paper_tables: list[str] = Field(default_factory=list)
    preset: str | None = None
    settings: Layer = Field(default_factory=dict)
    #: Whether each seed draws known classes of its own, so that the spread over seeds is one over classes too.
    split_by_seed: bool = False
    sources: dict[str, Source] = Field(min_length=1)
    systems: dict[str, System] = Field(min_length=1)
    metrics: list[Metric] = Field(default_factory=list)
    table: TableLayout | None = None
    comparisons: list[Comparison] = Field(default_factory=list)
    analysis: Analysis | None = None
    scales: dict[ScaleName, Scale] = Field(min_length=1)

    @model_validator(mode="after")
    def _check_names(self) -> Recipe:
        if (self.analysis is None) == (self.table is None):
            raise ValueError("a recipe has either a table (with metrics) or an analysis")
        if self.table is not None and not self.metrics:
            raise ValueError("a table needs metrics")
        for scale in self.scales.values():
            for chosen, known in ((scale.sources, self.sources), (scale.systems, self.systems)):
                for name in chosen or []:
                    if name not in known:
                        raise ValueError(f"a scale names '{name}', which is not among {', '.join(known)}")
        audited = self.analysis is not None and self.analysis.kind == "reliance"
        for comparison in self.comparisons:
            if (comparison.metric == "reliance") != audited:
                raise ValueError("reliance is compared by the analysis 'reliance', and nothing else is compared by it")
            for name in (comparison.system, comparison.baseline):
                if name not in self.systems:
                    raise ValueError(f"a comparison names '{name}', which is not among {', '.join(self.systems)}")
        return self

    def scale(self, name: str) -> Scale:
        """The scale of that name.

        Raises:
            ConfigError: When the recipe cannot be run at it.
        """
        for known, scale in self.scales.items():
            if known == name:
                return scale
        raise ConfigError(f"recipe '{self.name}' has the scales {', '.join(self.scales)}; got '{name}'")


def recipe_names() -> list[str]:
    """The recipes of the package."""
    return sorted(
        entry.name.removesuffix(".yaml")
        for entry in (files(__package__) / "recipes").iterdir()
        if entry.name.endswith(".yaml")
    )


def load_recipe(name: str | Path) -> Recipe:
    """Read a recipe by name, or from a file of the same form.

    A recipe with ``extends: NAME`` takes every top-level entry that it does not have itself from that one.

    Raises:
        ConfigError: With one line for every problem found.
    """
    content = _read(str(name))
    seen = [str(name)]
    while "extends" in content:
        seen.append(str(content.pop("extends")))
        if seen[-1] in seen[:-1]:
            raise ConfigError(f"recipe '{name}': extends itself ({' -> '.join(seen)}); let one of them stand alone")
        content = {**_read(seen[-1]), **content}
    try:
        return Recipe.model_validate(content)
    except ValidationError as error:
        problems = (
            f"recipe '{name}': {'.'.join(map(str, problem['loc'])) or 'recipe'}: "
            f"{str(problem['msg']).removeprefix('Value error, ')}"
            for problem in error.errors()
        )
        raise ConfigError("\n".join(problems)) from None


def _read(name: str) -> dict[str, Any]:
    known = recipe_names()
    hint = did_you_mean(name, known)
    try:
        if name in known:
            text = (files(__package__) / "recipes" / f"{name}.yaml").read_text(encoding="utf-8")
        elif name.endswith((".yaml", ".yml")):
            text = Path(name).expanduser().read_text(encoding="utf-8")
        else:
            raise ConfigError(f"there is no recipe '{name}'; known: {', '.join(known)}; or give a YAML file.{hint}")
        content = yaml.safe_load(text)
    except FileNotFoundError:
        raise ConfigError(f"recipe file '{name}' does not exist; see 'masker reproduce --list' for names") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"recipe file '{name}' cannot be read: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"recipe file '{name}' must hold keys and values; see docs/recipes.md")
    return content
