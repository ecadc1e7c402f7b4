"""From a recipe to a graph of stages.

Work that runs have in common becomes one stage. The vanilla model that MASKER reads its keywords from is trained as the
vanilla stage of a stand-alone MASKER run would be: :attr:`Settings.vanilla_stage_epochs`, same head, same seed. If a
vanilla row of the recipe has exactly these settings, both are one stage. The keyword set is one stage for all systems
that use it. A model is evaluated once, on all its test sets. A search for rate and batch size is a stage too, and the
trainings of all seeds depend on it. A system that starts from the package's defaults shares
nothing: it is trained in one stage, from its settings alone, as a user would.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from masker.config import Settings, build_settings
from masker.errors import ConfigError
from masker.experiments import cost
from masker.experiments.data_selection import SELECTION_SEED, found_raw, plan_selection
from masker.experiments.grid_search import GRID_SEED, grid_pairs, is_searched, with_pair
from masker.experiments.open_world_inputs import new_documents, part_inputs
from masker.experiments.recipe import Recipe, load_recipe
from masker.experiments.recipe_parts import OpenWorldOptions, RelianceOptions, Scale, Selection
from masker.experiments.replaced_corpora import STAND_INS
from masker.experiments.run_combinations import run_combinations
from masker.experiments.run_filter import RunFilter
from masker.experiments.run_settings import (
    RunCoordinates,
    check_overrides,
    run_settings,
    stage_settings,
    user_stage_settings,
    vanilla_settings,
    without_searched,
)
from masker.experiments.stages import Graph, Stage, make_stage
from masker.registry import KEYWORD_SCHEMES, METHODS

#: Bootstrap resamples behind each interval of an evaluation.
RESAMPLES = 1000

Parts = list[dict[str, Any]]


@dataclass(frozen=True)
class RunOptions:
    """Which runs of a recipe, and with which settings; empty leaves it to the scale."""

    backbones: Sequence[str] = ()  # the paper's columns, or any name, hub id or folder
    seeds: Sequence[int] = ()
    only: Sequence[str] = ()  # key=value filters; a run must match one value of each key that is named
    overrides: Sequence[str] = ()  # section.key=value settings of every run
    grid: bool = False  # choose learning rate and batch size as the paper does
    stand_ins: bool = False  # replace every corpus that has a stand-in, at any scale


@dataclass(frozen=True)
class Run:
    """One model of an experiment: a training corpus, an encoder, a system and a seed."""

    source: str
    backbone: str  # the paper's column; empty for a system without an encoder
    model: str  # the encoder
    system: str
    seed: int
    goal: str  # id of the stage with its figures
    ratio: int | None  # percentage of classes that are known, if classes are split
    sets: tuple[str, ...]  # names of its test sets, labelled ones first

    @property
    def name(self) -> str:
        """A name for files."""
        parts = (self.source, Path(self.model).name if self.backbone else "", self.system, f"seed{self.seed}")
        return ".".join(re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts if part)


@dataclass(frozen=True)
class Plan:
    """The runs and stages of a recipe at a scale."""

    recipe: Recipe
    scale_name: str
    scale: Scale
    runs: tuple[Run, ...]
    graph: Graph = field(repr=False)
    raw: dict[str, bool] = field(default_factory=dict)  # corpora that should be raw text, and whether they are
    overrides: tuple[str, ...] = ()  # settings of every run that are not the recipe's
    grid: bool = False  # whether rate and batch size were searched


def plan_recipe(
    recipe: Recipe,
    scale_name: str,
    options: RunOptions = RunOptions(),  # noqa: B008 (frozen)
    *,
    fetch: bool = True,
) -> Plan:
    """Plan the runs of a recipe; without ``fetch`` no corpus is downloaded, and the plan can be shown but not run."""
    scale = recipe.scale(scale_name)
    if options.stand_ins:
        scale = scale.model_copy(update={"stand_ins": {**STAND_INS, **scale.stand_ins}})
    check_overrides(options.overrides, grid=options.grid)
    wanted = RunFilter(options.only)
    planner = _Planner(recipe, scale, options, fetch)
    found = run_combinations(recipe, scale, options.backbones, options.seeds, wanted)
    runs = tuple(planner.add(run) for run in found)
    if not runs:
        asked = " --only ".join(options.only)
        raise ConfigError(f"no run of recipe '{recipe.name}' matches --only {asked}; {wanted.known()}")
    corpora = {part["corpus"] for part in planner.selected.values()}
    raw = found_raw([name for name in recipe.raw if name in corpora], fetch=fetch)
    return Plan(recipe, scale_name, scale, runs, planner.graph, raw, tuple(options.overrides), options.grid)


def plan_recipes(
    names: Sequence[str],
    scale: str,
    options: RunOptions = RunOptions(),  # noqa: B008 (frozen)
    *,
    fetch: bool = True,
) -> tuple[list[Plan], Graph]:
    """Plan several recipes, given by name or as YAML files, and join their stages into one graph."""
    plans = [plan_recipe(load_recipe(name), scale, options, fetch=fetch) for name in dict.fromkeys(names)]
    graph = Graph()
    for plan in plans:
        graph.merge(plan.graph)
    return plans, graph


class _Planner:
    """Adds the stages of one run after another to a graph."""

    def __init__(self, recipe: Recipe, scale: Scale, options: RunOptions, fetch: bool) -> None:
        self.recipe, self.scale, self.overrides, self.fetch = recipe, scale, options.overrides, fetch
        self.grid = options.grid
        self.searched_on: dict[str, Any] = {}  # the training documents of the first trial
        self.graph = Graph()
        # Runs share selections, and looking a corpus up takes longer than all the rest of planning.
        self.selected: dict[tuple[int, int | None, int], dict[str, Any]] = {}

    def add(self, run: RunCoordinates) -> Run:
        source = self.recipe.sources[run.source]
        settings = run_settings(self.recipe, self.scale, run, self.overrides)
        class_seed = run.seed if self.recipe.split_by_seed else SELECTION_SEED
        data = self._select(source.train, self.scale.train_documents, class_seed)
        self.searched_on = data
        if self.grid and class_seed != SELECTION_SEED:
            self.searched_on = self._select(source.train, self.scale.train_documents, SELECTION_SEED)
        tests = {name: self._test_set(parts, class_seed, data) for name, parts in source.tests.items()}
        ood = {name: self._test_set(parts, class_seed, data) for name, parts in source.ood.items()}
        ood = {name: planned for name, planned in ood.items() if planned}
        if self.recipe.analysis is not None and self.recipe.analysis.kind == "keywords":
            goal = self._keywords(data, settings, f"{run.system} · {run.place}")
        elif self.recipe.analysis is not None and self.recipe.analysis.kind == "open-world":
            goal = self._open_world(run, data, settings, (tests, ood))
        else:
            goal = self._measure(run, data, settings, tests, ood)
        self.graph.goals[goal.id] = None
        # The ratio is recorded even if it is 100 %, as in the paper's tables.
        ratio = source.train.class_ratio
        ratio = self.scale.class_ratio if ratio is not None and self.scale.class_ratio is not None else ratio
        percent = None if ratio is None else round(100 * ratio)
        return Run(run.source, run.column, run.encoder.model, run.system, run.seed, goal.id, percent, (*tests, *ood))

    def _measure(
        self,
        run: RunCoordinates,
        data: dict[str, Any],
        settings: Settings,
        tests: dict[str, Parts],
        ood: dict[str, Parts],
    ) -> Stage:
        """The stage with the figures of a run: an evaluation, or an analysis."""
        system = self.recipe.systems[run.system]
        train = self._train if system.start == "paper" else self._train_as_user
        parents = [train(data, settings, f"{run.system} · {run.place}").id]
        analysis, score = self.recipe.analysis, system.score
        kind = "evaluate" if analysis is None else analysis.kind
        inputs: dict[str, Any] = {"tests": tests, "ood": ood}
        inputs |= {"resamples": RESAMPLES} if analysis is None else {"train": data, "options": analysis.options}
        if score is not None:
            build_settings(settings.model_dump(), {"detection": {"score": score}})  # is there such a score?
            inputs["score"] = score
        seconds = cost.scoring_seconds([*tests.values(), *ood.values()], settings)
        seconds += cost.TSNE_S if kind == "tsne" else 0.0
        if analysis is not None and kind == "reliance":
            parents.append(self._training_keywords(run, data).id)
            options = RelianceOptions.model_validate(analysis.options)
            home = next(iter(tests.items()))  # reliance is measured in the training domain
            inputs = {"tests": dict([home]), "ood": {}, "options": options.model_dump(mode="json")}
            seconds = cost.audit_seconds(home[1], settings, options)
        title = f"{kind} {run.system} · {run.place}"
        return self.graph.add(make_stage(kind, inputs, parents, title=title, seconds=seconds))

    def _open_world(
        self, run: RunCoordinates, data: dict[str, Any], settings: Settings, sets: tuple[dict[str, Parts], ...]
    ) -> Stage:
        """The stage of one part; all parts of a source, an encoder and a seed share the model of the known classes."""
        part, analysis = self.recipe.systems[run.system].part, self.recipe.analysis
        assert part is not None
        assert analysis is not None
        options = OpenWorldOptions.model_validate(analysis.options)
        inputs = part_inputs(part, options, data, sets, run)
        parents = [self._train_as_user(data, settings, f"known classes · {run.place}").id]
        if part == "extend":
            new = new_documents(data, options.extend)
            parents.append(self._train_as_user(data, settings, f"all classes · {run.place}", new).id)
        seconds = cost.open_world_seconds(part, inputs, settings)
        return self.graph.add(make_stage(part, inputs, parents, title=f"{run.system} · {run.place}", seconds=seconds))

    def _select(self, selection: Selection, documents: int | None, class_seed: int) -> dict[str, Any]:
        key = (id(selection), documents, class_seed)  # the recipe keeps its selections as long as this lives
        if key not in self.selected:
            planned = plan_selection(selection, self.scale, documents, class_seed=class_seed, fetch=self.fetch)
            self.selected[key] = planned
        return self.selected[key]

    def _test_set(self, parts: Sequence[Selection], class_seed: int, data: dict[str, Any]) -> Parts:
        planned = [self._select(part, self.scale.test_documents, class_seed) for part in parts]
        planned = [{**part, "trained_on": data} if part["classes"] == "trained" else part for part in planned]
        # If all classes are known, there are no unseen ones.
        return [part for part in planned if part["classes"] != "unseen" or part["class_ratio"] is not None]

    def _train(self, data: dict[str, Any], settings: Settings, title: str) -> Stage:
        if settings.training.method == "vanilla":
            settings = vanilla_settings(settings, settings.epochs)
        parents = self._training_parents(data, settings, title)
        inputs = {"data": data, **stage_settings(settings, settings.epochs)}
        if self.grid and is_searched(settings):
            parents.append(self._search(settings, title).id)
            inputs = {**without_searched(inputs), "grid": True}
        seconds = cost.training_seconds(data, settings)
        return self.graph.add(make_stage("train", inputs, parents, title=f"train {title}", seconds=seconds))

    def _training_parents(self, data: dict[str, Any], settings: Settings, title: str) -> list[str]:
        if METHODS.get(settings.training.method).keywords and _reads_attention(settings):
            return [self._keywords(data, settings, title).id]
        return []

    def _search(self, settings: Settings, title: str) -> Stage:
        """The search behind a training: the same for all its seeds."""
        first = settings.model_copy(update={"training": settings.training.model_copy(update={"seed": GRID_SEED})})
        data, pairs = self.searched_on, grid_pairs(settings)
        parents = self._training_parents(data, first, title)
        inputs = {"data": data, **without_searched(stage_settings(first, first.epochs)), "pairs": pairs}
        seconds = sum(cost.training_seconds(data, with_pair(first, pair)) for pair in pairs)
        return self.graph.add(make_stage("grid", inputs, parents, title=f"grid {title}", seconds=seconds))

    def _train_as_user(
        self, data: dict[str, Any], settings: Settings, title: str, added: dict[str, Any] | None = None
    ) -> Stage:
        """Train in one stage, on more documents if some are ``added``."""
        seconds = cost.training_seconds(data, settings)
        if METHODS.get(settings.training.method).keywords and _reads_attention(settings):
            vanilla = vanilla_settings(settings, settings.vanilla_stage_epochs)
            seconds += cost.training_seconds(data, vanilla) + cost.scoring_seconds([[data]], settings)
        inputs = {"data": data, **user_stage_settings(settings)}
        if added is not None:
            seconds *= 1.0 + cost.rows_of([added]) / max(1, cost.rows_of([data]))
            inputs["added"] = added
        return self.graph.add(make_stage("train", inputs, title=f"train {title}", seconds=seconds))

    def _keywords(self, data: dict[str, Any], settings: Settings, title: str) -> Stage:
        vanilla = vanilla_settings(settings, settings.vanilla_stage_epochs)
        # Only what the choice of keywords depends on, so that systems with the same choice share the stage.
        chooser = build_settings(vanilla.model_dump(), {"keywords": settings.keywords.model_dump()})
        parents = []
        if _reads_attention(settings):
            parents = [self._train(data, vanilla, f"vanilla for {title}").id]
        inputs = {"data": data, **stage_settings(chooser)}
        seconds = cost.scoring_seconds([[data]] if parents else [], settings)
        return self.graph.add(make_stage("keywords", inputs, parents, title=f"keywords {title}", seconds=seconds))

    def _training_keywords(self, run: RunCoordinates, data: dict[str, Any]) -> Stage:
        """The keywords of the first system that trains with keywords; all systems are audited on them."""
        for name in self.recipe.systems:
            settings = run_settings(self.recipe, self.scale, replace(run, system=name), self.overrides)
            if METHODS.get(settings.training.method).keywords:
                return self._keywords(data, settings, f"{name} · {run.place}")
        methods = " or ".join(name for name, method in METHODS.items() if method.keywords)
        raise ConfigError(f"the analysis 'reliance' needs a system with training.method {methods}")


def _reads_attention(settings: Settings) -> bool:
    """Whether keywords come from the attention of a vanilla model, which must be trained first."""
    source = settings.keywords.source  # a scheme, or a file of words
    return source in KEYWORD_SCHEMES and bool(KEYWORD_SCHEMES.get(source).reads_attention)
