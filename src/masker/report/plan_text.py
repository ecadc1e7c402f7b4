"""The output of ``masker reproduce --list`` and ``--dry-run``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

from masker.corpora import how_to_get
from masker.experiments.cost import MEASURED_ON, unmeasured_hardware
from masker.experiments.plan import Plan, plan_recipe
from masker.experiments.recipe import load_recipe, recipe_names
from masker.experiments.replaced_corpora import STAND_INS
from masker.experiments.stage_progress import shown_duration
from masker.experiments.stages import Graph
from masker.report.markdown import markdown_table
from masker.report.page import RESULTS, other_encoder

Summary = dict[str, Any]


def recipes_table(output: Path, published: Path = RESULTS) -> str:
    """The recipes of the package: what they reproduce, which have been run, and how long they take.

    A recipe has been run if its summary is in the output folder or, in a checkout, among the published results.
    """
    body = []
    for name in recipe_names():
        recipe = load_recipe(name)
        answered = ", ".join(recipe.paper_tables) if recipe.analysis is None else recipe.analysis.figure or ""
        runs = _summaries(name, output, published)
        for scale in recipe.scales:
            found = [summary for summary in runs if summary["scale"] == scale]
            status = "; ".join(dict.fromkeys(map(_status, found))) or "not run"
            body.append([name, scale, recipe.title, answered, _shown_time(name, scale, found), status])
    return "\n".join(markdown_table(["recipe", "scale", "title", "in the paper", "time", "run"], body, left=6))


def _summaries(name: str, output: Path, published: Path) -> list[Summary]:
    paths = [output / name / "summary.json", *sorted(published.glob(f"{name}.*.json"))]
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.is_file()]


def _status(summary: Summary) -> str:
    seeds = summary["setting"]["seeds"]
    shown = f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}"
    # Figures of a command that the recipe has replaced; the recipe itself is still to be run.
    carried = ["carried over"] if "carried_over" in summary else []
    earlier = ["an earlier form of the recipe"] if "earlier" in summary else []
    return ", ".join([summary["provenance"]["created"][:10], *other_encoder(summary), shown, *carried, *earlier])


def _shown_time(name: str, scale: str, summaries: Sequence[Summary]) -> str:
    """The time that the stages behind the figures took, else an estimate for the hardware of the scale."""
    took = [summary["setting"]["seconds"] for summary in summaries if "seconds" in summary["setting"]]
    if took:
        return f"took {shown_duration(took[0])}"
    recipe = load_recipe(name)
    if unmeasured_hardware([recipe.scale(scale)]):
        return "not known"
    plan = plan_recipe(recipe, scale, fetch=False)
    return f"about {shown_duration(sum(stage.seconds for stage in plan.graph.stages.values()))}"


def plan_text(plans: Sequence[Plan], graph: Graph, output: Path, archived: Container[str] = ()) -> str:
    """The stages that would run, the estimated time if there is an estimate, and what is missing for each recipe."""
    todo = graph.unfinished(output, archived)
    lines = [stage.title for stage in todo.stages.values()]
    counts = Counter(stage.kind for stage in todo.stages.values())
    shown = ", ".join(f"{number} {kind}" for kind, number in counts.items()) or "nothing"
    names = ", ".join(f"{plan.recipe.name} ({plan.scale_name}, {len(plan.runs)} runs)" for plan in plans)
    lines += ["", f"{names}: {len(graph.stages)} stages, {len(graph.stages) - len(todo.stages)} of them finished."]
    lines.append(f"To run: {shown}; {_time_text(plans, todo)}.")
    return "\n".join([*lines, *missing_lines(plans)])


def missing_lines(plans: Sequence[Plan]) -> list[str]:
    """For each recipe the corpora that are not here, and once for each corpus how to get it."""
    lines: list[str] = []
    needed: dict[str, None] = {}
    stripped: set[str] = set()
    for plan in plans:
        missing = sorted(missing_corpora(plan.graph))
        other = sorted({name for name, raw in plan.raw.items() if not raw} | {*plan.recipe.raw} & {*missing})
        needed |= dict.fromkeys([*missing, *other])
        stripped |= {*other}
        if missing:
            lines.append(f"Data that {plan.recipe.name} lacks: {', '.join(missing)}.")
        if other:
            lines.append(f"Data that {plan.recipe.name} wants as raw text: {', '.join(other)}.")
    for name in needed:
        replaced = STAND_INS.get(name)
        way = "" if replaced is None else f", or --stand-ins, which takes {replaced.corpus} instead"
        note = "; what is downloaded is not raw" if name in stripped else ""
        lines.append(f"  {name}: {how_to_get(name)}{way}{note}.")
    return lines


def _time_text(plans: Sequence[Plan], todo: Graph) -> str:
    """An estimate for the hardware that the scale is designed for, or that there is none."""
    if unmeasured := unmeasured_hardware(plan.scale for plan in plans):
        return f"no time estimate for {', '.join(unmeasured)} (measured on {MEASURED_ON} only)"
    seconds = sum(stage.seconds for stage in todo.stages.values())
    minutes = f" ({seconds / 60:.0f} minutes)" if seconds >= 5400 else ""
    return f"about {shown_duration(seconds)}{minutes} on {MEASURED_ON}"


def missing_corpora(graph: Graph) -> set[str]:
    """Corpora of a plan that must be downloaded or supplied first."""
    found = set()
    for stage in graph.stages.values():
        inputs = stage.inputs
        parts = [inputs["data"]] if "data" in inputs else []
        parts += [part for sets in ("tests", "ood") for one in inputs.get(sets, {}).values() for part in one]
        found |= {part["corpus"] for part in parts if None in part["sha256"]}
    return found
