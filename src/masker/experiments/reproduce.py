"""Run recipes: plan, run what is missing, write the results.

::

    OUTPUT/stages/<id>/                  shared by all recipes that run into this folder
    OUTPUT/<recipe>/<run>/results.json   one model: settings, figures with intervals, provenance of its stages
    OUTPUT/<recipe>/summary.json         means over seeds beside the paper's figures; small enough to commit
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from masker.corpora import how_to_get
from masker.errors import ConfigError
from masker.experiments.cost import unmeasured_hardware
from masker.experiments.engines import Execution, find_engine, run_unfinished
from masker.experiments.origins import lineage, stage_origins
from masker.experiments.plan import Plan, Run, RunOptions, plan_recipes
from masker.experiments.run_stage import run_stage
from masker.experiments.stage_archive import pack_stages, unpack_stages
from masker.experiments.stage_progress import Progress
from masker.experiments.stages import is_finished, read_result
from masker.experiments.summary import dumps_summary, summarise
from masker.files import write_json, write_text
from masker.modeling.devices import resolve_device

_log = logging.getLogger("masker")


@dataclass(frozen=True)
class Outcome:
    """The results of one recipe."""

    plan: Plan
    summary: dict[str, Any]
    folder: Path
    #: By the name of a run, for figures that need more than the summary has.
    results: dict[str, dict[str, Any]]


def reproduce(
    names: Sequence[str],
    output: str | Path,
    options: RunOptions = RunOptions(),  # noqa: B008 (frozen)
    execution: Execution = Execution(),  # noqa: B008
    *,
    scale: str = "small",
) -> list[Outcome]:
    """Run recipes and write their results; stages that ``output`` already holds do not run again.

    Recipes are given by name or as YAML files; stages that they share run once. Only one process at a time may work in
    ``output``. With ``execution.finished`` nothing runs, and the results are those of the runs that are finished.
    ``execution.stages`` names an archive whose stages count as finished, and which gets those that are.
    """
    from filelock import FileLock, Timeout

    find_engine(execution.engine)  # before anything is fetched or written
    if execution.engine == "local":  # the workers of a cluster may have other devices
        resolve_device(execution.device)
    plans, graph = plan_recipes(names, scale, options)
    folder = Path(output).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    for corpus in sorted({name for plan in plans for name, raw in plan.raw.items() if not raw}):
        _log.warning("corpus %s is not the raw text that the paper uses; %s", corpus, how_to_get(corpus))
    estimates = not unmeasured_hardware(plan.scale for plan in plans)
    try:
        with FileLock(folder / ".lock", timeout=0), _archived(execution.stages, folder):
            if execution.finished:
                return [_write_outcome(_finished_part(plan, folder), folder) for plan in plans]
            todo = graph.unfinished(folder)
            progress = Progress(graph, todo, folder, keep_models=execution.keep_models, estimates=estimates)
            run_unfinished(graph, partial(run_stage, device=execution.device), execution.engine, folder, progress)
            progress.finish()
            return [_write_outcome(plan, folder) for plan in plans]
    except Timeout:
        raise ConfigError(f"another process works in '{folder}'; wait for it or choose another --output") from None


@contextmanager
def _archived(file: Path | None, output: Path) -> Iterator[None]:
    """Stages of the archive count as finished inside; what is finished afterwards is in it, whatever happens."""
    if file is None:
        yield
        return
    if file.exists():
        _log.info("%d stages from '%s'", unpack_stages(file, output), file)
    try:
        yield
    finally:
        pack_stages(output, file)


def _finished_part(plan: Plan, output: Path) -> Plan:
    runs = tuple(run for run in plan.runs if is_finished(plan.graph.stages[run.goal], output))
    if not runs:
        raise ConfigError(f"no run of recipe '{plan.recipe.name}' is finished in '{output}'; run it without --finished")
    return replace(plan, runs=runs)


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
    """All there is to know about one run: what was asked, what came out, and where it comes from."""
    goal = read_result(output, run.goal)
    stages = lineage([goal])
    # A reliance audit also depends on a keyword stage, and so on a second model; its own comes first.
    parents = [plan.graph.stages[name] for name in plan.graph.stages[run.goal].depends_on]
    trained = next((read_result(output, stage.id) for stage in parents if stage.kind == "train"), None)
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
        "stages": [_stage_entry(stage) for stage in stages],
        "origins": stage_origins(stages),
        "provenance": {**goal["provenance"], "seed": run.seed},
    }


def _stage_entry(stage: dict[str, Any]) -> dict[str, Any]:
    origin = stage["provenance"]
    entry = {"id": stage["id"], "kind": stage["kind"], "seconds": stage["took"]}
    return {**entry, "commit": origin["commit"], "version": origin["versions"].get("masker")}
