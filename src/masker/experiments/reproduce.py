"""Running recipes: plan, run what is missing, write what came out.

::

    OUTPUT/stages/<id>/             shared by all recipes that are run into this folder
    OUTPUT/<recipe>/<run>/results.json   one model: settings, figures with intervals, provenance
    OUTPUT/<recipe>/summary.json    means over seeds beside the paper's figures; small enough to commit
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from masker.errors import ConfigError
from masker.experiments.engines import execute, find_engine
from masker.experiments.plan import Plan, Run, plan_recipe
from masker.experiments.recipe import load_recipe
from masker.experiments.run_stage import run_stage
from masker.experiments.stage_progress import Progress
from masker.experiments.stages import Graph, Stage, read_result, write_json, write_text
from masker.experiments.summary import dumps_summary, summarise


@dataclass(frozen=True)
class Outcome:
    """What one recipe came to."""

    plan: Plan
    summary: dict[str, Any]
    folder: Path
    #: By the name of a run, for figures that need more than the summary has.
    results: dict[str, dict[str, Any]]


def plan_recipes(names: Sequence[str], scale: str, **options: Any) -> tuple[list[Plan], Graph]:
    """Plan several recipes, and join their stages into one graph.

    Args:
        names: Recipes by name, or YAML files.
        scale: ``small`` or ``paper``.
        options: As for :func:`masker.experiments.plan.plan_recipe`.
    """
    plans = [plan_recipe(load_recipe(name), scale, **options) for name in dict.fromkeys(names)]
    graph = Graph()
    for plan in plans:
        graph.merge(plan.graph)
    return plans, graph


def reproduce(
    names: Sequence[str],
    output: str | Path,
    *,
    scale: str = "small",
    backbones: Sequence[str] = (),
    seeds: Sequence[int] = (),
    only: Sequence[str] = (),
    overrides: Sequence[str] = (),
    engine: str = "local",
    keep_models: bool = False,
) -> list[Outcome]:
    """Run recipes and write their results; what ``output`` holds already is not done again.

    Args:
        names: Recipes by name, or YAML files. Stages that they share run once.
        output: Folder for stages and results.
        scale: ``small`` or ``paper``.
        backbones: Encoders in place of the scale's.
        seeds: Seeds in place of the scale's.
        only: ``key=value`` filters of the runs.
        overrides: ``section.key=value`` settings of every run.
        engine: What runs the stages; see :mod:`masker.experiments.engines`.
        keep_models: Keep the trained models instead of removing each when its last figure is there.

    Raises:
        ConfigError: When an option is wrong, or another process works in ``output``.
        DataError: When a corpus cannot be had.
    """
    from filelock import FileLock, Timeout

    find_engine(engine)  # refused before anything is fetched or written
    plans, graph = plan_recipes(
        names, scale, backbones=backbones, seeds=seeds, only=only, overrides=overrides, fetch=True
    )
    folder = Path(output).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / ".lock", timeout=0):
            progress = Progress(graph, graph.unfinished(folder), folder, keep_models=keep_models)
            execute(graph, run_stage, engine, folder, progress)
            progress.finish()
            return [_write_outcome(plan, folder) for plan in plans]
    except Timeout:
        raise ConfigError(f"another process works in '{folder}'; wait for it or choose another --output") from None


def _write_outcome(plan: Plan, output: Path) -> Outcome:
    folder = output / plan.recipe.name
    results = {}
    for run in plan.runs:
        results[run.name] = run_result(plan, run, output)
        write_json(folder / run.name / "results.json", results[run.name])
    summary = summarise(plan, output)
    write_text(folder / "summary.json", dumps_summary(summary))
    return Outcome(plan, summary, folder, results)


def run_result(plan: Plan, run: Run, output: Path) -> dict[str, Any]:
    """All there is to know about one run: what was asked, what came out, where it comes from."""
    stages = _ancestors(plan.graph, run.goal)
    done = {stage.id: read_result(output, stage.id) for stage in stages}
    goal = done[run.goal]
    # A reliance audit depends on a keyword stage, and so on another model, too; its own comes first.
    parents = [plan.graph.stages[name] for name in plan.graph.stages[run.goal].depends_on]
    trained = next((done[stage.id] for stage in parents if stage.kind == "train"), None)
    return {
        "recipe": plan.recipe.name,
        "scale": plan.scale_name,
        "train": run.source,
        "backbone": Path(run.model).name if run.backbone else None,
        "system": run.system,
        "seed": run.seed,
        "known_classes_percent": run.ratio,
        "stand_ins": {name: stand_in.corpus for name, stand_in in plan.scale.stand_ins.items()},
        "settings": None if trained is None else trained["inputs"]["settings"],
        "trained": None if trained is None else trained["result"],
        "tested": {key: goal["inputs"][key] for key in ("tests", "ood") if key in goal["inputs"]},
        "result": goal["result"],
        "stages": [{"id": stage.id, "kind": stage.kind, "seconds": done[stage.id]["took"]} for stage in stages],
        "provenance": {**goal["provenance"], "seed": run.seed},
    }


def _ancestors(graph: Graph, goal: str) -> list[Stage]:
    """A stage and all that it depends on, in the order of the graph."""
    wanted, queue = set(), [goal]
    while queue:
        name = queue.pop()
        wanted.add(name)
        queue += graph.stages[name].depends_on
    return [stage for name, stage in graph.stages.items() if name in wanted]
