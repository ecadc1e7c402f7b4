"""The output of ``masker reproduce --list`` and ``--dry-run``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from masker.experiments.cost import MEASURED_ON, unmeasured_hardware
from masker.experiments.plan import Plan
from masker.experiments.recipe import load_recipe, recipe_names
from masker.experiments.stage_progress import shown_duration
from masker.experiments.stages import Graph
from masker.report.markdown import markdown_table


def recipes_table() -> str:
    """The recipes of the package, and the tables or figures of the paper that they reproduce."""
    body = []
    for name in recipe_names():
        recipe = load_recipe(name)
        answered = ", ".join(recipe.paper_tables) if recipe.analysis is None else recipe.analysis.figure or ""
        body.append([name, recipe.title, answered, ", ".join(recipe.scales)])
    return "\n".join(markdown_table(["recipe", "title", "in the paper", "scales"], body, left=4))


def plan_text(plans: Sequence[Plan], graph: Graph, output: Path) -> str:
    """The stages that would run, the estimated time if there is an estimate, and the missing corpora."""
    todo = graph.unfinished(output)
    lines = [stage.title for stage in todo.stages.values()]
    counts = Counter(stage.kind for stage in todo.stages.values())
    shown = ", ".join(f"{number} {kind}" for kind, number in counts.items()) or "nothing"
    names = ", ".join(f"{plan.recipe.name} ({plan.scale_name}, {len(plan.runs)} runs)" for plan in plans)
    lines += ["", f"{names}: {len(graph.stages)} stages, {len(graph.stages) - len(todo.stages)} of them finished."]
    lines.append(f"To run: {shown}; {_time_text(plans, todo)}.")
    missing = sorted(missing_corpora(graph))
    if missing:
        lines.append(f"Missing corpora: {', '.join(missing)} (see 'masker data list').")
    return "\n".join(lines)


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
