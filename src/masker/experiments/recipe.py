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

from pydantic import Field, ValidationError, model_validator

from masker.config_sources import parse_yaml
from masker.errors import ConfigError, did_you_mean
from masker.experiments import recipe_parts as parts

ScaleName = Literal["small", "medium", "paper"]


class Recipe(parts.RecipePart):
    """One table or figure of the paper."""

    name: str
    title: str
    paper_tables: list[str] = Field(default_factory=list)
    preset: str | None = None
    settings: parts.Layer = Field(default_factory=dict)
    #: Whether each seed draws its own known classes, so that the spread over seeds includes the choice of classes.
    split_by_seed: bool = False
    #: Corpora that the paper uses as raw text; if one of them is found in another form, the results say so.
    raw: list[str] = Field(default_factory=list)
    sources: dict[str, parts.Source] = Field(min_length=1)
    systems: dict[str, parts.System] = Field(min_length=1)
    #: Scores that every system is read by: a system becomes one for each of them, ``SYSTEM:SCORE``, with one model.
    readings: list[str] = Field(default_factory=list)
    metrics: list[parts.Metric] = Field(default_factory=list)
    table: parts.TableLayout | None = None
    comparisons: list[parts.PairedQuestion] = Field(default_factory=list)
    halves: parts.Halves | None = None
    analysis: parts.Analysis | None = None
    scales: dict[ScaleName, parts.Scale] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _expand_readings(cls, content: Any) -> Any:
        if not isinstance(content, dict) or not content.get("readings"):
            return content
        whole = isinstance(content.get("systems"), dict) and isinstance(content["readings"], list)
        if not whole or not all(
            isinstance(system, dict) and "title" in system for system in content["systems"].values()
        ):
            return content  # it will be refused for that
        systems = {
            parts.read_by(name, score): {**system, "title": f"{system['title']}, {score}", "score": score}
            for name, system in content["systems"].items()
            for score in content["readings"]
        }
        return {**content, "systems": systems}

    @model_validator(mode="after")
    def _check_names(self) -> Recipe:
        if sum(form is not None for form in (self.table, self.analysis, self.halves)) != 1:
            raise ValueError("a recipe has either a table (with metrics), halves (with metrics) or an analysis")
        if self.analysis is None and not self.metrics:
            raise ValueError(f"{'a table needs' if self.halves is None else 'halves need'} metrics")
        self._check_halves()
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

    def _check_halves(self) -> None:
        if self.halves is None:
            return
        sources = (*self.halves.choose, *self.halves.confirm)
        for name in sources:
            if name not in self.sources:
                raise ValueError(f"halves name '{name}', which is not one of {', '.join(self.sources)}")
        if len(set(sources)) < len(sources):
            raise ValueError("a source cannot be in both halves: what chooses a system cannot confirm it")
        for name in (parts.read_by(self.halves.baseline, score) for score in self.readings or [""]):
            if name not in self.systems:
                raise ValueError(f"the baseline of the halves, '{name}', is not one of {', '.join(self.systems)}")

    @model_validator(mode="after")
    def _check_uses(self) -> Recipe:
        if any(source.train.classes == "trained" for source in self.sources.values()):
            raise ValueError("classes 'trained' are those of the training documents, so it is for test sets only")
        kind = None if self.analysis is None else self.analysis.kind
        if kind in ("keywords", "reliance") and any(system.start == "defaults" for system in self.systems.values()):
            raise ValueError(f"the analysis '{kind}' needs a keyword stage, which start 'defaults' does not have")
        for name, system in self.systems.items():
            if (system.part is not None) != (kind == "open-world"):
                raise ValueError(
                    f"system '{name}': a part is for the analysis 'open-world', and there every system has one"
                )
            if system.part is not None and system.start != "defaults":
                raise ValueError(f"system '{name}': the analysis 'open-world' needs start 'defaults'")
            for source in system.sources or []:
                if source not in self.sources:
                    raise ValueError(f"system '{name}' names '{source}', which is not one of {', '.join(self.sources)}")
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

    A recipe with ``extends: NAME`` takes every top-level entry that it does not have itself from that one; scales that
    it takes keep those of their sources and systems that it has. A :class:`ConfigError` has one line for each problem.
    """
    content = _read(str(name))
    seen = [str(name)]
    while "extends" in content:
        seen.append(str(content.pop("extends")))
        if seen[-1] in seen[:-1]:
            raise ConfigError(f"recipe '{name}' extends itself ({' -> '.join(seen)}); remove one 'extends'")
        content = {**_fitting(_read(seen[-1]), content), **content}
    try:
        return Recipe.model_validate(content)
    except ValidationError as error:
        problems = (
            f"recipe '{name}': {'.'.join(map(str, problem['loc'])) or 'recipe'}: "
            f"{str(problem['msg']).removeprefix('Value error, ')}"
            for problem in error.errors()
        )
        raise ConfigError("\n".join(problems)) from None


def _fitting(extended: dict[str, Any], content: dict[str, Any]) -> dict[str, Any]:
    """The extended recipe, without what its scales name of sources and systems that are replaced."""
    scales = {name: dict(scale) for name, scale in extended.get("scales", {}).items()}
    for key in ("sources", "systems"):
        for scale in scales.values():
            if key in content and scale.get(key) is not None:
                scale[key] = [name for name in scale[key] if name in content[key]] or None
    return {**extended, "scales": scales} if scales else extended


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
        content = parse_yaml(text)
    except FileNotFoundError:
        raise ConfigError(f"recipe file '{name}' does not exist; see 'masker reproduce --list' for names") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read recipe file '{name}': {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"recipe file '{name}' must contain keys and values; see docs/recipes.md")
    return content
