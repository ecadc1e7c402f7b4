"""Paired comparisons within a part, worked out by hand."""

from __future__ import annotations

import pytest

from masker.experiments.open_world_comparison import compare_parts


def row(part, seed, **figures):
    return {"train": "T", "model": "m", "system": f"my {part}", "seed": seed, "part": part, **figures}


def grouped(seed, ours, theirs):
    return row("discover", seed, masker={"accuracy": ours}, k_means={"accuracy": theirs})


def test_each_model_is_a_unit_and_seeds_that_chose_are_left_out():
    """Differences of +10 and -4 points: +3 on average, and one of two is above."""
    rows = [grouped(0, 0.9, 0.1), grouped(1, 0.6, 0.5), grouped(2, 0.46, 0.5)]
    [found] = compare_parts(rows, chosen_on=[0])
    assert (
        found.items() >= {"system": "my discover", "ours": "masker", "theirs": "k_means", "metric": "accuracy"}.items()
    )
    assert (found["units"], found["cells"], found["wins"]) == (2, 2, 1)
    assert found["difference"] == pytest.approx(3.0)
    assert compare_parts(rows, chosen_on=[0, 1, 2]) == []


def test_budgets_are_cells_of_one_unit():
    """Two budgets of one model, +2 and +4 points: one unit of +3, two cells."""
    budgets = {
        "5": {"review": {"accuracy": 0.52}, "random": {"accuracy": 0.5}},
        "9": {"review": {"accuracy": 0.64}, "random": {"accuracy": 0.6}},
    }
    [found] = compare_parts([row("review", 0, budgets=budgets)])
    assert (found["units"], found["cells"], found["wins"]) == (1, 2, 2) and found["difference"] == pytest.approx(3.0)


def test_figures_that_a_model_does_not_have_are_left_out():
    sides = {
        "before": {"accuracy_old": 0.52, "accuracy_new": None},
        "extended": {"accuracy_old": 0.5, "accuracy_new": None},
        "retrained": {"accuracy_old": 0.49},
    }
    found = compare_parts([row("extend", 0, **sides)])
    assert [(one["theirs"], one["metric"], one["difference"]) for one in found] == [
        ("before", "accuracy_old", -2.0),
        ("retrained", "accuracy_old", 1.0),
    ]
