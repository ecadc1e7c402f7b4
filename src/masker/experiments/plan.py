"""From a recipe to a graph of stages.

Work that runs have in common becomes one stage. The vanilla model that MASKER reads its keywords from is trained as the
vanilla stage of a stand-alone MASKER run would be: :attr:`Settings.vanilla_stage_epochs`, same head, same seed. Where a
vanilla row of the recipe has those very settings, both are one stage, and the keyword set is one stage for all systems
that use it. A model is evaluated once, on all its test sets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from masker.config import KEYWORD_METHODS, Settings, build_settings
from masker.errors import ConfigError, did_you_mean
from masker.experiments import cost
from masker.experiments.data_selection import SELECTION_SEED, plan_selection
from masker.experiments.paper_settings import paper_settings, without_paper_settings
from masker.experiments.recipe import Backbone, Recipe, RelianceOptions, Scale, Source, System
from masker.experiments.stages import Graph, Stage, make_stage
from masker.files import file_sha256, folder_sha256
from masker.modeling.embedded import EMBEDDED

#: Bootstrap resamples behind each interval of an evaluation.
RESAMPLES = 1000
#: Methods that choose keywords; attention keywords need a vanilla model first.
_OWN_OPTIONS = {
    "model.backbone": "--backbone",
    "training.seed": "--seeds",
    "training.method": "--only system=NAME, or a recipe file of your own,",
}
FILTER_KEYS = ("train", "system", "backbone")


@dataclass(frozen=True)
class Run:
    """One model of an experiment: a training corpus, an encoder, a system and a seed.

    Attributes:
        source: Name of the training corpus in the recipe.
        backbone: The paper's column, or an empty string for a system without an encoder.
        model: The encoder.
        system: Name of the system in the recipe.
        seed: Seed of the training.
        goal: Id of the stage with its figures.
        ratio: Percentage of classes that is known, where classes are split.
        sets: Names of its test sets, labelled ones first.
    """

    source: str
    backbone: str
    model: str
    system: str
    seed: int
    goal: str
    ratio: int | None
    sets: tuple[str, ...]

    @property
    def name(self) -> str:
        """A name for files."""
        parts = (self.source, Path(self.model).name if self.backbone else "", self.system, f"seed{self.seed}")
        return ".".join(re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts if part)


@dataclass(frozen=True)
class Plan:
    """What a recipe comes to at a scale."""

    recipe: Recipe
    scale_name: str
    scale: Scale
    runs: tuple[Run, ...]
    graph: Graph = field(repr=False)


def plan_recipe(
    recipe: Recipe,
    scale_name: str,
    *,
    backbones: Sequence[str] = (),
    seeds: Sequence[int] = (),
    only: Sequence[str] = (),
    overrides: Sequence[str] = (),
    fetch: bool = True,
) -> Plan:
    """Plan the runs of a recipe.

    Args:
        recipe: The recipe.
        scale_name: ``small`` or ``paper``.
        backbones: Encoders in place of the scale's: the paper's columns, or any name, hub id or folder.
        seeds: Seeds in place of the scale's.
        only: ``key=value`` filters; runs must match one value of each key that is named.
        overrides: ``section.key=value`` settings of every run.
        fetch: Whether corpora may be downloaded; without it a plan can be shown but not run.

    Raises:
        ConfigError: When a setting, a filter or a name is wrong.
        DataError: When a corpus cannot be had.
    """
    scale = recipe.scale(scale_name)
    _check_overrides(overrides)
    chosen = _choose_backbones(scale, backbones)
    planner = _Planner(recipe, scale, tuple(overrides), fetch)
    matches = _Filter(only)
    runs: list[Run] = []
    for seed in dict.fromkeys(seeds or scale.seeds):
        for source_name, source in recipe.sources.items():
            if scale.sources is not None and source_name not in scale.sources:
                continue
            for system_name, system in recipe.systems.items():
                if scale.systems is not None and system_name not in scale.systems:
                    continue
                for column, backbone in chosen.items():
                    if system.backbone_free and column != next(iter(chosen)):
                        continue
                    shown = "" if system.backbone_free else column
                    if matches(train=source_name, system=system_name, backbone=(shown, backbone.model)):
                        runs.append(planner.add(source_name, source, system_name, system, shown, backbone, seed))
    if not runs:
        raise ConfigError(f"no run of recipe '{recipe.name}' matches --only {' --only '.join(only)}; {matches.known()}")
    return Plan(recipe, scale_name, scale, tuple(runs), planner.graph)


class _Planner:
    def __init__(self, recipe: Recipe, scale: Scale, overrides: tuple[str, ...], fetch: bool) -> None:
        self.recipe, self.scale, self.overrides, self.fetch = recipe, scale, overrides, fetch
        self.graph = Graph()

    def add(
        self,
        source_name: str,
        source: Source,
        system_name: str,
        system: System,
        column: str,
        backbone: Backbone,
        seed: int,
    ) -> Run:
        settings = run_settings(self.recipe, self.scale, source, system_name, backbone, seed, self.overrides)
        class_seed = seed if self.recipe.split_by_seed else SELECTION_SEED
        data = self._select(source.train, self.scale.train_documents, class_seed)
        where = " · ".join((source_name, *([Path(backbone.model).name] if column else []), f"seed {seed}"))
        analysis = self.recipe.analysis
        tests = {name: self._test_set(parts, class_seed) for name, parts in source.tests.items()}
        ood = {name: planned for name, parts in source.ood.items() if (planned := self._test_set(parts, class_seed))}
        if analysis is not None and analysis.kind == "keywords":
            goal = self._keywords(data, settings, f"{system_name} · {where}")
        else:
            parents = [self._train(data, settings, f"{system_name} · {where}").id]
            inputs: dict[str, Any] = {"tests": tests, "ood": ood}
            kind = "evaluate" if analysis is None else analysis.kind
            inputs |= {"resamples": RESAMPLES} if analysis is None else {"train": data, "options": analysis.options}
            inputs |= {} if system.score is None else {"score": system.score}
            seconds = cost.scoring_seconds([*tests.values(), *ood.values()], settings)
            seconds += cost.TSNE_S if kind == "tsne" else 0.0
            if analysis is not None and kind == "reliance":
                parents.append(self._training_keywords(data, source, backbone, seed, where).id)
                options = RelianceOptions.model_validate(analysis.options)
                home = next(iter(tests.items()))  # a model is asked what it leans on where it is at home
                inputs = {"tests": dict([home]), "ood": {}, "options": options.model_dump(mode="json")}
                seconds = cost.audit_seconds(home[1], settings, options)
            title = f"{kind} {system_name} · {where}"
            goal = self.graph.add(make_stage(kind, inputs, parents, title=title, seconds=seconds))
        self.graph.goals[goal.id] = None
        # The ratio is told even where it is 100 %: the paper's tables do so too.
        ratio = source.train.class_ratio
        ratio = self.scale.class_ratio if ratio is not None and self.scale.class_ratio is not None else ratio
        percent = None if ratio is None else round(100 * ratio)
        return Run(source_name, column, backbone.model, system_name, seed, goal.id, percent, (*tests, *ood))

    def _select(self, selection: Any, documents: int | None, class_seed: int) -> dict[str, Any]:
        return plan_selection(selection, self.scale, documents, class_seed=class_seed, fetch=self.fetch)

    def _test_set(self, parts: Sequence[Any], class_seed: int) -> list[dict[str, Any]]:
        planned = [self._select(part, self.scale.test_documents, class_seed) for part in parts]
        # With all classes known there are no unseen ones.
        return [part for part in planned if part["classes"] == "seen" or part["class_ratio"] is not None]

    def _train(self, data: dict[str, Any], settings: Settings, title: str) -> Stage:
        parents = []
        if settings.training.method in KEYWORD_METHODS and settings.keywords.source == "attention":
            keywords = self._keywords(data, settings, title)
            # A warm start goes on from the model that the keywords were read from.
            parents = [keywords.id, *(keywords.depends_on if settings.training.warm_start else ())]
        if settings.training.method == "vanilla":
            settings = vanilla_settings(settings, settings.epochs)
        inputs = {"data": data, "settings": _with_epochs(settings), **_contents(settings)}
        seconds = cost.training_seconds(data, settings)
        return self.graph.add(make_stage("train", inputs, parents, title=f"train {title}", seconds=seconds))

    def _keywords(self, data: dict[str, Any], settings: Settings, title: str) -> Stage:
        vanilla = vanilla_settings(settings, settings.vanilla_stage_epochs)
        # Only what the choice of keywords depends on, so that systems which choose alike share the stage.
        chooser = build_settings(vanilla.model_dump(), {"keywords": settings.keywords.model_dump()})
        parents = []
        if settings.keywords.source == "attention":
            parents = [self._train(data, vanilla, f"vanilla for {title}").id]
        stored = without_paper_settings(chooser.model_dump(mode="json"))
        inputs = {"data": data, "settings": stored, **_contents(chooser)}
        seconds = cost.scoring_seconds([[data]] if parents else [], settings)
        return self.graph.add(make_stage("keywords", inputs, parents, title=f"keywords {title}", seconds=seconds))

    def _training_keywords(
        self, data: dict[str, Any], source: Source, backbone: Backbone, seed: int, where: str
    ) -> Stage:
        """The keywords that the first system which trains with keywords is given, for all systems to be audited on."""
        for name in self.recipe.systems:
            settings = run_settings(self.recipe, self.scale, source, name, backbone, seed, self.overrides)
            if settings.training.method in KEYWORD_METHODS:
                return self._keywords(data, settings, f"{name} · {where}")
        raise ConfigError(f"the analysis 'reliance' needs a system of method {' or '.join(KEYWORD_METHODS)}")


def run_settings(
    recipe: Recipe,
    scale: Scale,
    source: Source,
    system_name: str,
    backbone: Backbone,
    seed: int,
    overrides: Sequence[str] = (),
) -> Settings:
    """The settings of one run: what the paper does, then recipe, scale, encoder, source, system, overrides, seed."""
    system = recipe.systems[system_name]
    levels = (system.settings, source.settings, backbone.settings, scale.settings, recipe.settings)
    methods = (level["training"]["method"] for level in levels if "method" in level.get("training", {}))
    method = str(next(methods, "masker"))
    epochs = backbone.epochs.get(system_name, backbone.epochs.get(method))
    return build_settings(
        paper_settings(method),
        recipe.settings,
        scale.settings,
        backbone.settings,
        {"model": {"backbone": backbone.model}, "training": {"epochs": epochs}},
        source.settings,
        system.settings,
        preset=recipe.preset,
        overrides=[*overrides, f"training.seed={seed}"],
    )


def vanilla_settings(settings: Settings, epochs: int) -> Settings:
    """Vanilla fine-tuning with the same model, data and seed.

    What vanilla training does not use is as in the paper, so that neither a recipe nor a new default trains it anew.
    """
    return build_settings(
        {
            "data": settings.data.model_dump(include={"validation_fraction", "calibration_share"}),
            "model": settings.model.model_dump(),
            "loss": {"class_weights": settings.loss.class_weights},
            "training": {
                **settings.training.model_dump(exclude={"warm_start"}),
                "averaged_share": settings.averaged_share if settings.training.method == "vanilla" else 0.0,
                "method": "vanilla",
                "epochs": epochs,
            },
            "detection": settings.detection.model_dump(exclude={"rule"}),
        },
        preset="ood",
    )


def _with_epochs(settings: Settings) -> dict[str, Any]:
    """The settings for JSON, the number of epochs written out: a default may change, a result may not."""
    content = without_paper_settings(settings.model_dump(mode="json"))
    content["training"]["epochs"] = settings.epochs
    return content


def _contents(settings: Settings) -> dict[str, Any]:
    """Fingerprints of the files and folders that settings name; what has the same name later may be something else."""
    named = {
        "backbone": settings.model.backbone if settings.model.backbone not in EMBEDDED else None,
        "keywords": settings.keywords.source,
        "attention_model": settings.keywords.attention_model,
    }
    found = {}
    for key, name in named.items():
        path = None if name is None else Path(name).expanduser()
        if path is not None and path.is_dir():
            found[key] = folder_sha256(path)
        elif path is not None and path.is_file():
            found[key] = file_sha256(path)
    return {"contents": found} if found else {}


def _check_overrides(overrides: Sequence[str]) -> None:
    """What tells runs apart has options of its own; as a setting of every run it would leave them under false names."""
    for override in overrides:
        option = _OWN_OPTIONS.get(override.partition("=")[0].strip())
        if option is not None:
            raise ConfigError(f"--set {override}: runs differ in it; use {option} instead")


def _choose_backbones(scale: Scale, names: Sequence[str]) -> dict[str, Backbone]:
    """The scale's encoders, or those asked for; one that the scale does not know is compared with its first column."""
    if not names:
        return scale.backbones
    first = next(iter(scale.backbones))
    chosen: dict[str, Backbone] = {}
    for name in names:
        known = (column for column, it in scale.backbones.items() if name.lower() in (column.lower(), it.model.lower()))
        column = next(known, first)
        if column in chosen:
            raise ConfigError(
                f"--backbone: '{name}' and '{chosen[column].model}' both stand for {column}; run them apart"
            )
        known_model = scale.backbones[column]
        own = known_model if name.lower() == column.lower() else known_model.model_copy(update={"model": name})
        chosen[column] = own
    return chosen


class _Filter:
    """``key=value`` filters: any of the values of a key, and every key."""

    def __init__(self, only: Sequence[str]) -> None:
        self.wanted: dict[str, set[str]] = {}
        self.seen: dict[str, dict[str, None]] = {key: {} for key in FILTER_KEYS}
        for text in only:
            key, equals, value = text.partition("=")
            if not equals or key not in FILTER_KEYS:
                hint = did_you_mean(key, FILTER_KEYS)
                raise ConfigError(
                    f"--only takes KEY=VALUE with KEY one of {', '.join(FILTER_KEYS)}; got '{text}'.{hint}"
                )
            self.wanted.setdefault(key, set()).add(value.lower())

    def __call__(self, *, train: str, system: str, backbone: tuple[str, str]) -> bool:
        values = {"train": (train,), "system": (system,), "backbone": backbone}
        for key, names in values.items():
            self.seen[key] |= {name: None for name in names if name}
        return all({name.lower() for name in values[key]} & wanted for key, wanted in self.wanted.items())

    def known(self) -> str:
        """What could have been asked for."""
        return "; ".join(f"{key}: {', '.join(names)}" for key, names in self.seen.items())
