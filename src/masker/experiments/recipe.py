"""Recipes: the tables and figures of the paper as data.

A recipe says which systems are trained on which documents, what is measured, which table of the paper it reproduces,
and at which scales it can be run. It is a YAML file, one of those in ``recipes/`` or the user's own. Its settings are
the sections and keys of :mod:`masker.config`; they are checked when a run is planned, so a recipe can be read before
the method it names exists.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from masker.errors import ConfigError, did_you_mean
from masker.experiments import recipe_parts as parts

ScaleName = Literal["small", "paper"]


class Recipe(parts.RecipePart):
    """One table or figure of the paper."""

    name: str
    title: str
    paper_tables: list[str] = Field(default_factory=list)
    preset: str | None = None
    settings: parts.Layer = Field(default_factory=dict)
    #: Whether each seed draws its own known classes, so that the spread over seeds includes the choice of classes.
    split_by_seed: bool = False
    sources: dict[str, parts.Source] = Field(min_length=1)
    systems: dict[str, parts.System] = Field(min_length=1)
    metrics: list[parts.Metric] = Field(default_factory=list)
    table: parts.TableLayout | None = None
    comparisons: list[parts.PairedQuestion] = Field(default_factory=list)
    analysis: parts.Analysis | None = None
    scales: dict[ScaleName, parts.Scale] = Field(min_length=1)

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
                        raise ValueError(f"a scale names '{name}', which is not one of {', '.join(known)}")
        audited = self.analysis is not None and self.analysis.kind == "reliance"
        for question in self.comparisons:
            if (question.metric == "reliance") != audited:
                raise ValueError("metric 'reliance' belongs to the analysis 'reliance', which compares nothing else")
            for name in (question.system, question.baseline):
                if name not in self.systems:
                    raise ValueError(f"a comparison names '{name}', which is not one of {', '.join(self.systems)}")
        return self

    @model_validator(mode="after")
    def _check_uses(self) -> Recipe:
        if any(source.train.classes == "trained" for source in self.sources.values()):
            raise ValueError("classes 'trained' are those of the training documents, so it is for test sets only")
        kind = None if self.analysis is None else self.analysis.kind
        if kind in ("keywords", "reliance") and any(system.start == "defaults" for system in self.systems.values()):
            raise ValueError(f"the analysis '{kind}' needs a keyword stage, which start 'defaults' does not have")
        return self

    def scale(self, name: str) -> parts.Scale:
        for known, scale in self.scales.items():
            if known == name:
                return scale
        raise ConfigError(f"recipe '{self.name}' has the scales {', '.join(self.scales)}; got '{name}'")


def recipe_names() -> list[str]:
    """The recipes of the package."""
    names = (entry.name for entry in (files(__package__) / "recipes").iterdir())
    return sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))


def load_recipe(name: str | Path) -> Recipe:
    """Read a recipe by name, or from a YAML file of the same form.

    A recipe with ``extends: NAME`` takes every top-level entry that it does not have itself from that one. A
    :class:`ConfigError` has one line for each problem found.
    """
    content = _read(str(name))
    seen = [str(name)]
    while "extends" in content:
        seen.append(str(content.pop("extends")))
        if seen[-1] in seen[:-1]:
            raise ConfigError(f"recipe '{name}' extends itself ({' -> '.join(seen)}); remove one 'extends'")
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
            raise ConfigError(f"unknown recipe '{name}'; known: {', '.join(known)}; or give a YAML file.{hint}")
        content = yaml.safe_load(text)
    except FileNotFoundError:
        raise ConfigError(f"recipe file '{name}' does not exist; see 'masker reproduce --list' for names") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"cannot read recipe file '{name}': {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"recipe file '{name}' must contain keys and values; see docs/recipes.md")
    return content
