"""A search among systems: how each compares with the baseline on the choosing and on the confirming half."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from masker.experiments.comparison import LOWER_IS_BETTER, Paired, compare_paired
from masker.experiments.plan import Plan, Run
from masker.experiments.recipe_parts import Halves, read_by

#: (run, metric) -> the figures of its test sets.
FiguresOf = Callable[[Run, str], dict[str, float]]
Row = dict[str, Any]


def compare_halves(plan: Plan, figures_of: FiguresOf) -> list[Row]:
    """A row for each system, metric and half: the paired comparison with the baseline, and its mean by source.

    Both are read by the same score. The baseline itself has its means instead of a comparison.
    """
    halves = plan.recipe.halves
    assert halves is not None
    return [
        row
        for system in dict.fromkeys(run.system for run in plan.runs)
        for metric in plan.recipe.metrics
        for half in ("choose", "confirm")
        if (row := _row(plan, halves, figures_of, (system, metric, half))) is not None
    ]


def _row(plan: Plan, halves: Halves, figures_of: FiguresOf, place: tuple[str, str, str]) -> Row | None:
    name, metric, half = place
    system, _, score = name.partition(":")
    sources = halves.choose if half == "choose" else halves.confirm
    runs = [run for run in plan.runs if run.source in sources]
    own = _values(runs, name, metric, figures_of)
    if not own:
        return None
    row: Row = {"system": system, "score": score, "metric": metric, "half": half}
    if system == halves.baseline:
        return {**row, "means": _by_source(own)}
    base = _values(runs, read_by(halves.baseline, score), metric, figures_of)
    outcome: Paired | None = compare_paired(own, base, lower_is_better=metric in LOWER_IS_BETTER)
    if outcome is None:
        return None
    differences = {key: value - base[key] for key, value in own.items() if key in base}
    return {**row, **outcome.rounded(), "differences": _by_source(differences)}


def _values(runs: list[Run], system: str, metric: str, figures_of: FiguresOf) -> dict[tuple[Any, Any], float]:
    return {
        ((run.source, run.backbone, run.seed), test): value
        for run in runs
        if run.system == system
        for test, value in figures_of(run, metric).items()
    }


def _by_source(values: dict[tuple[Any, Any], float]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for ((source, *_), _test), value in values.items():
        found.setdefault(source, []).append(value)
    return {source: round(statistics.fmean(members), 2) for source, members in found.items()}
