"""Two sources, one for each half, two seeds; figures of one test set, made up."""

from __future__ import annotations

import pytest

from masker.experiments.half_comparison import compare_halves
from masker.experiments.plan import plan_recipe
from masker.experiments.recipe import load_recipe

SOURCE = {
    "train": {"corpus": "topics", "split": "train"},
    "tests": {"known": {"corpus": "topics", "split": "test"}},
    "ood": {"foreign": {"corpus": "foreign", "split": "test"}},
}
#: AUROC by source, system and seed.
FIGURES = {
    ("A", "vanilla"): (80.0, 82.0), ("A", "masker"): (83.0, 84.0),
    ("B", "vanilla"): (70.0, 71.0), ("B", "masker"): (69.0, 74.0),
}  # fmt: skip


@pytest.fixture
def plan(corpora, tiny_recipe):
    systems = {name: {"title": name, "settings": {"training": {"method": name}}} for name in ("vanilla", "masker")}
    halves = {"baseline": "vanilla", "choose": ["A"], "confirm": ["B"]}
    path = tiny_recipe(
        sources={"A": SOURCE, "B": SOURCE}, systems=systems, readings=["max-prob", "auto"], halves=halves, table=None,
        comparisons=[],
    )  # fmt: skip
    return plan_recipe(load_recipe(path), "small")


def figures_of(run, metric):
    system, _, score = run.system.partition(":")
    return {"foreign": FIGURES[run.source, system][run.seed] + (10.0 if score == "auto" else 0.0)}


def test_each_half_is_compared_with_the_baseline_read_by_the_same_score(plan):
    """On A: +3 and +2, mean 2.5, both better; on B: -1 and +3, mean 1, one better. Two pairs: p is 0.5 at least."""
    rows = {(row["system"], row["score"], row["half"]): row for row in compare_halves(plan, figures_of)}
    assert len(rows) == 8
    for score in ("max-prob", "auto"):
        chosen, confirmed = (rows["masker", score, half] for half in ("choose", "confirm"))
        assert (chosen["difference"], chosen["wins"], chosen["units"], chosen["p_value"]) == (2.5, 2, 2, 0.5)
        assert chosen["differences"] == {"A": 2.5}
        assert (confirmed["difference"], confirmed["wins"], confirmed["p_value"]) == (1.0, 1, 1.0)
    assert rows["vanilla", "max-prob", "choose"]["means"] == {"A": 81.0}
    assert rows["vanilla", "auto", "confirm"]["means"] == {"B": 80.5}


def test_what_has_not_been_run_has_no_row(plan):
    from dataclasses import replace

    part = replace(plan, runs=tuple(run for run in plan.runs if run.source == "A" and run.system != "vanilla:auto"))
    rows = {(row["system"], row["score"], row["half"]) for row in compare_halves(part, figures_of)}
    assert rows == {("vanilla", "max-prob", "choose"), ("masker", "max-prob", "choose")}
