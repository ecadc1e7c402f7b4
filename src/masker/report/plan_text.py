"""What ``masker reproduce --list`` and ``--dry-run`` print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from masker.experiments.plan import Plan
from masker.experiments.recipe import load_recipe, recipe_names
from masker.experiments.stage_progress import shown_duration
from masker.experiments.stages import Graph
from masker.report.markdown import markdown_table


def recipes_table() -> str:
    """The recipes of the package with what they answer and how long they take."""
    body = []
    for name in recipe_names():
        recipe = load_recipe(name)
        answered = ", ".join(recipe.paper_tables) if recipe.analysis is None else recipe.analysis.figure or ""
        body.append([name, recipe.title, answered, ", ".join(recipe.scales)])
    return "\n".join(markdown_table(["recipe", "title", "in the paper", "scales"], body, left=4))


def plan_text(plans: Sequence[Plan], graph: Graph, output: Path) -> str:
    """The stages that would run, the corpora that are missing, and an estimate of the time."""
    todo = graph.unfinished(output)
    lines = [stage.title for stage in todo.stages.values()]
    counts = Counter(stage.kind for stage in todo.stages.values())
    shown = ", ".join(f"{number} {kind}" for kind, number in counts.items()) or "nothing"
    names = ", ".join(f"{plan.recipe.name} ({plan.scale_name}, {len(plan.runs)} runs)" for plan in plans)
    lines += ["", f"{names}: {len(graph.stages)} stages, {len(graph.stages) - len(todo.stages)} of them finished."]
    seconds = sum(stage.seconds for stage in todo.stages.values())
    minutes = f" ({seconds / 60:.0f} minutes)" if seconds >= 5400 else ""
    lines.append(f"To run: {shown}; about {shown_duration(seconds)}{minutes} on two CPU cores.")
    missing = sorted(missing_corpora(graph))
    if missing:
        lines.append(f"Not here yet: {', '.join(missing)} (see 'masker data list').")
    return "\n".join(lines)


def missing_corpora(graph: Graph) -> set[str]:
    """Corpora of a plan that would have to be fetched, or brought, first."""
    found = set()
    for stage in graph.stages.values():
        inputs = stage.inputs
        parts = [inputs["data"]] if "data" in inputs else []
        parts += [part for sets in ("tests", "ood") for one in inputs.get(sets, {}).values() for part in one]
        found |= {part["corpus"] for part in parts if None in part["sha256"]}
    return found
