"""What ``--list`` and ``--dry-run`` print."""

from __future__ import annotations

import pytest

from masker.experiments.plan import RunOptions, plan_recipes
from masker.experiments.recipe import load_recipe, recipe_names
from masker.report.plan_text import missing_corpora, plan_text, recipes_table


def test_every_recipe_is_listed_with_its_table_or_figure():
    lines = recipes_table().splitlines()
    assert len(lines) == 2 + len(recipe_names())
    listed = {line.split("|")[1].strip(): line for line in lines[2:]}
    assert "fig:tsne" in listed["tsne"] and "ood_main" in listed["ood-main"]


@pytest.fixture
def text_of(monkeypatch, tmp_path):
    monkeypatch.delenv("MASKER_DATA", raising=False)

    def show(*names, scale="small", options=RunOptions()):  # noqa: B008
        return plan_text(*plan_recipes(names, scale, options, fetch=False), tmp_path / "out")

    return show


def test_the_small_scale_is_estimated_for_its_hardware(text_of):
    text = text_of("nli", options=RunOptions(only=["system=vanilla"]))
    assert text.splitlines()[:2] == [
        "train vanilla · Telephone · minilm · seed 0",
        "evaluate vanilla · Telephone · minilm · seed 0",
    ]
    assert "nli (small, 1 runs): 2 stages, 0 of them finished." in text
    assert "To run: 1 train, 1 evaluate; about 2 min on 2 CPU cores." in text


@pytest.mark.parametrize("name", recipe_names())
def test_hours_of_two_cores_are_not_quoted_for_a_gpu(text_of, name):
    text = text_of(name, scale="paper")
    assert load_recipe(name).scale("paper").hardware == "one GPU with 16 GB"
    assert "; no time estimate for one GPU with 16 GB (measured on 2 CPU cores only)." in text
    assert "about" not in text and " h " not in text and "minutes" not in text


def test_long_runs_are_in_minutes_too(text_of):
    assert " h (" in text_of("ood-ablation") and " minutes) on 2 CPU cores." in text_of("ood-ablation")


def test_missing_corpora_are_named(text_of, corpora, tiny_recipe, tmp_path):
    assert "Missing corpora: stsb (see 'masker data list')." in text_of("stsb")
    plans, graph = plan_recipes([tiny_recipe()], "small", fetch=False)
    assert missing_corpora(graph) == set()
    assert "Missing" not in plan_text(plans, graph, tmp_path / "out")
