"""The summary of a recipe: mean and deviation over seeds, the paper's figure beside ours, paired comparisons.

A summary is small and has no per-document data, so that it can be committed with the code.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from masker.experiments.comparison import LOWER_IS_BETTER, compare_paired
from masker.experiments.half_comparison import compare_halves
from masker.experiments.open_world_comparison import compare_parts
from masker.experiments.origins import latest_provenance, lineage, stage_origins
from masker.experiments.paper_numbers import find_number
from masker.experiments.plan import Plan, Run
from masker.experiments.recipe import Recipe
from masker.experiments.recipe_parts import DETECTION_METRICS, OpenWorldOptions
from masker.experiments.stages import read_result

FORMAT = 1
#: The keys of a cell, in the order of tables.
CELL_KEYS = ("train", "test", "backbone", "system", "metric")
Cell = dict[str, Any]


def metric_sets(recipe: Recipe, run: Run, metric: str) -> list[str]:
    """The test sets of a run that a metric is measured on."""
    source = recipe.sources[run.source]
    labelled = [name for name in run.sets if name in source.tests]
    if metric in DETECTION_METRICS:
        return [name for name in run.sets if name not in source.tests]
    if metric == "false_alarms":  # a promise about the training domain only
        return labelled[:1]
    return labelled[1:] if metric == "gap" else labelled


def cells_of(recipe: Recipe, run: Run) -> Iterator[Cell]:
    """The cells of the table that a run fills, each with the number that the paper prints for it."""
    source, system = recipe.sources[run.source], recipe.systems[run.system]
    for metric in recipe.metrics:
        for test in metric_sets(recipe, run, metric):
            cell: Cell = {"train": run.source, "test": test, "backbone": run.backbone, "system": run.system}
            cell |= {"metric": metric, "ratio": run.ratio, "model": Path(run.model).name if run.backbone else ""}
            paper_test = source.paper_tests.get(test, test)
            number = None
            if source.in_paper and system.in_paper and paper_test is not None:
                place = {"train": source.paper or run.source, "test": paper_test, "ratio": run.ratio}
                place |= {"backbone": run.backbone or None, "system": run.system, "metric": metric}
                number = find_number(recipe.paper_tables, **place)
            if number is not None:
                printed = {key: getattr(number, key) for key in ("mean", "deviation", "table", "note")}
                cell["paper"] = {key: value for key, value in printed.items() if value is not None}
            yield cell


def figure_of(result: dict[str, Any], recipe: Recipe, run: Run, metric: str, test: str) -> float | None:
    """A figure in percent from the result of an evaluation; ``None`` if the system does not have it."""
    figures = result["figures"]
    if metric == "gap":
        home = next(iter(recipe.sources[run.source].tests))
        here, there = (figures.get(name, {}).get("accuracy") for name in (test, home))
        return None if here is None or there is None else 100.0 * (here["value"] - there["value"])
    found = figures.get(test, {}).get(metric)
    return None if found is None else 100.0 * float(found["value"])


def summarise(plan: Plan, output: Path) -> dict[str, Any]:
    """Summarise the figures of all runs of a plan.

    Nothing in it depends on when or with which commit the summary is written: it names those of the stages.
    """
    results = {run.goal: read_result(output, run.goal) for run in plan.runs}
    stages = lineage(results.values())
    content: dict[str, Any] = {
        "format": FORMAT,
        "recipe": plan.recipe.name,
        "title": plan.recipe.title,
        "scale": plan.scale_name,
        "systems": {name: plan.recipe.systems[name].title for name in dict.fromkeys(run.system for run in plan.runs)},
        "setting": _setting(plan, results, stages),
        "origins": stage_origins(stages),
        "provenance": latest_provenance(stages),
    }
    if plan.recipe.analysis is not None:
        content["figure"], content["shows"] = plan.recipe.analysis.figure, plan.recipe.analysis.shows
        content["analysis"] = [_analysed(run, results[run.goal]["result"]) for run in plan.runs]
        if plan.recipe.analysis.kind == "open-world":
            options = OpenWorldOptions.model_validate(plan.recipe.analysis.options)
            content["comparisons"] = compare_parts(content["analysis"], options.chosen_on)
        elif plan.recipe.comparisons:
            content["comparisons"] = _reliance_comparisons(plan, results)
        return content
    if plan.recipe.halves is not None:
        content["baseline"] = plan.recipe.halves.baseline
        content["halves"] = compare_halves(plan, partial(_figures_of, plan, results))
        return content
    assert plan.recipe.table is not None
    content["table"] = plan.recipe.table.model_dump()
    content["cells"] = _cells(plan, results)
    content["comparisons"] = _comparisons(plan, results)
    return content


def _figures_of(plan: Plan, results: dict[str, Any], run: Run, metric: str) -> dict[str, float]:
    """The figures of a run on all its test sets; systems may lack some."""
    tests = metric_sets(plan.recipe, run, metric)
    found = {test: figure_of(results[run.goal]["result"], plan.recipe, run, metric, test) for test in tests}
    return {test: value for test, value in found.items() if value is not None}


def dumps_summary(summary: dict[str, Any]) -> str:
    """A summary as JSON with one cell per line: small, and readable in a diff."""
    parts = []
    for key, value in summary.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in value)
            parts.append(f" {json.dumps(key)}: [\n  {rows}\n ]")
        else:
            parts.append(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _cells(plan: Plan, results: dict[str, Any]) -> list[Cell]:
    cells: dict[tuple[Any, ...], Cell] = {}
    for run in plan.runs:
        for cell in cells_of(plan.recipe, run):
            value = figure_of(results[run.goal]["result"], plan.recipe, run, cell["metric"], cell["test"])
            if value is None and "paper" not in cell:
                continue
            key = tuple(cell[name] for name in CELL_KEYS)
            kept = cells.setdefault(key, {**cell, "values": []})
            if value is not None:
                kept["values"].append(round(value, 2))
    for cell in cells.values():
        values = cell["values"]
        cell["mean"] = round(statistics.fmean(values), 2) if values else None
        cell["deviation"] = round(statistics.stdev(values), 2) if len(values) > 1 else None
    return list(cells.values())


def _comparisons(plan: Plan, results: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for question in plan.recipe.comparisons:
        sides: dict[str, dict[tuple[Any, Any], float]] = {question.system: {}, question.baseline: {}}
        runs = [run for run in plan.runs if run.system in sides]
        encoders = {run.backbone for run in runs if run.backbone}
        for run in runs:
            for test, value in _figures_of(plan, results, run, question.metric).items():
                # A system without an encoder is compared with each encoder of the other system.
                for encoder in [run.backbone] if run.backbone else encoders or [""]:
                    sides[run.system][(run.source, encoder, run.seed), test] = value
        lower = question.metric in LOWER_IS_BETTER
        outcome = compare_paired(sides[question.system], sides[question.baseline], lower_is_better=lower)
        if outcome is not None:
            found.append({**question.model_dump(), **outcome.rounded()})
    return found


def _reliance_comparisons(plan: Plan, results: dict[str, Any]) -> list[dict[str, Any]]:
    """The paired test for each kind of keywords and each masking; lower reliance is better."""
    found = []
    for question in plan.recipe.comparisons:
        values: dict[tuple[str, str], dict[str, dict[tuple[Any, Any], float]]] = {}
        for run in plan.runs:
            for audit in results[run.goal]["result"]["audits"]:
                sides = values.setdefault((audit["keywords"], audit["masking"]), {})
                unit = (run.source, run.backbone, run.seed)
                sides.setdefault(run.system, {})[unit, ""] = audit["reliance"]["value"]
        for (keywords, masking), sides in values.items():
            system, baseline = (sides.get(name, {}) for name in (question.system, question.baseline))
            outcome = compare_paired(system, baseline, lower_is_better=True)
            if outcome is not None:
                of_kind = {"keywords": keywords, "masking": masking}
                found.append({**question.model_dump(), **of_kind, **outcome.rounded()})
    return found


def _setting(plan: Plan, results: dict[str, Any], stages: list[dict[str, Any]]) -> dict[str, Any]:
    """What a reader has to know about how the figures were made."""
    scale = plan.scale
    return {
        "hardware": scale.hardware,
        "models": sorted({Path(run.model).name for run in plan.runs}),
        "seeds": sorted({run.seed for run in plan.runs}),
        "train_documents": scale.train_documents,
        "test_documents": scale.test_documents,
        "test_sizes": _test_sizes(results),
        "class_ratio": scale.class_ratio,
        "split_by_seed": plan.recipe.split_by_seed and any(run.ratio not in (None, 100) for run in plan.runs),
        "raw": plan.raw,
        "stand_ins": {name: stand_in.model_dump() for name, stand_in in scale.stand_ins.items() if _used(plan, name)},
        "settings": scale.settings,
        "preset": plan.recipe.preset if _in_paper(plan.recipe) else None,
        "overrides": list(plan.overrides),
        "grid": plan.grid,
        "notes": scale.notes,
        "evaluation_seconds": round(sum(record["took"] for record in results.values())),
        "seconds": round(sum(stage["took"] for stage in stages)),
    }


def _in_paper(recipe: Recipe) -> bool:
    """Whether the recipe is a table or a figure of the paper; others change what the preset sets."""
    return bool(recipe.paper_tables or (recipe.analysis is not None and recipe.analysis.figure))


def _test_sizes(results: dict[str, Any]) -> dict[str, list[int]]:
    """The documents of each test set, fewest and most: they may differ between sources and class splits."""
    sizes: dict[str, list[int]] = {}
    for record in results.values():
        documents = record["result"].get("documents")
        for test, count in documents.items() if isinstance(documents, dict) else ():
            sizes.setdefault(test, []).append(count)
    return {test: [min(counts), max(counts)] for test, counts in sizes.items()}


def _used(plan: Plan, corpus: str) -> bool:
    sources = [plan.recipe.sources[name] for name in {run.source for run in plan.runs}]
    parts = [part for source in sources for sets in (source.tests, source.ood) for one in sets.values() for part in one]
    return corpus in {part.corpus for part in (*parts, *(source.train for source in sources))}


def _analysed(run: Run, result: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in result.items() if key not in ("points", "data_sha256")}
    if "keywords" in kept and isinstance(kept["keywords"], list):
        kept["keywords"] = [row["word"] for row in kept["keywords"]]
    return {"train": run.source, "model": Path(run.model).name, "system": run.system, "seed": run.seed, **kept}
