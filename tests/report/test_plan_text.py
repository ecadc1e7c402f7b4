"""What ``--list`` and ``--dry-run`` print."""

from __future__ import annotations

from dataclasses import replace

import pytest

from masker.experiments.plan import RunOptions, plan_recipes
from masker.experiments.recipe import load_recipe, recipe_names
from masker.files import write_json
from masker.report.plan_text import missing_corpora, missing_lines, plan_text, recipes_table


def test_every_recipe_is_listed_with_its_status_and_time(tmp_path, monkeypatch):
    """One was published with its duration, one before summaries had it, one has been run here; the rest not."""
    monkeypatch.delenv("MASKER_DATA", raising=False)
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "cache"))  # not what the user has downloaded
    setting = {"seeds": [0], "seconds": 7200, "models": ["minilm"]}
    summary = {"recipe": "tsne", "scale": "small", "setting": setting, "provenance": {"created": "2030-01-02T00:00:00"}}
    published, here = tmp_path / "results", tmp_path / "out" / "nli"
    write_json(published / "tsne.small.json", summary)
    other = {"seeds": [0, 1], "models": ["granite-30m"]}
    write_json(published / "stsb.small.granite-30m.json", {**summary, "recipe": "stsb", "setting": other})
    carried = {**summary, "recipe": "open-world", "carried_over": {"command": "another"}}
    write_json(published / "open-world.small.json", carried)
    write_json(published / "ood-main.small.json", {**summary, "recipe": "ood-main", "earlier": "another rate"})
    here.mkdir(parents=True)
    write_json(here / "summary.json", {**summary, "recipe": "mine", "scale": "paper"})
    lines = recipes_table(tmp_path / "out", published).splitlines()
    assert len(lines) == 2 + sum(len(load_recipe(name).scales) for name in recipe_names())
    rows = {tuple(cell.strip() for cell in line.split("|")[1:3]): line for line in lines[2:]}
    assert "fig:tsne" in rows["tsne", "small"] and "took 2.0 h " in rows["tsne", "small"]
    assert "| 2030-01-02, seed 0 " in rows["tsne", "small"] and "| not run " in rows["tsne", "paper"]
    assert "2030-01-02, granite-30m, seeds 0, 1" in rows["stsb", "small"] and " about " in rows["stsb", "small"]
    assert "2030-01-02, seed 0" in rows["nli", "paper"] and "not run" in rows["nli", "small"]
    assert "2030-01-02, seed 0, carried over " in rows["open-world", "small"], "not run yet by the recipe itself"
    assert "2030-01-02, seed 0, an earlier form of the recipe " in rows["ood-main", "small"]
    assert "not known" in rows["ood-main", "paper"] and " h " in rows["ood-main", "medium"]


@pytest.fixture
def text_of(monkeypatch, tmp_path):
    monkeypatch.delenv("MASKER_DATA", raising=False)
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "cache"))  # not what the user has downloaded

    def show(*names, scale="small", options=RunOptions()):  # noqa: B008
        return plan_text(*plan_recipes(names, scale, options, fetch=False), tmp_path / "out")

    return show


def test_the_small_scale_is_estimated_for_its_hardware(text_of):
    text = text_of("nli", options=RunOptions(only=["system=vanilla"], seeds=[0]))
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
    assert text_of("stsb").endswith(
        "Data that stsb lacks: stsb.\n  stsb: downloaded from hub mteb/stsbenchmark-sts@b0fddb56 when it is needed."
    )
    lines = text_of("ood-main", "tsne", scale="paper").splitlines()
    assert "Data that ood-main lacks: 20newsgroups, amazon50, finefood, imdb, reuters, sst2." in lines
    assert "Data that tsne lacks: amazon50, finefood, sst2." in lines
    assert "Data that ood-main wants as raw text: 20newsgroups, reuters." in lines
    [posts] = [line for line in lines if line.startswith("  20newsgroups: ")]
    assert "20news-bydate.tar.gz" in posts and posts.endswith("; what is downloaded is not raw.")
    [amazon] = [line for line in lines if line.startswith("  amazon50: ")]
    assert "masker data fetch amazon50 --from 50EleReviews.json" in amazon
    assert amazon.endswith(", or --stand-ins, which takes amazon24 instead.")
    plans, graph = plan_recipes([tiny_recipe()], "small", fetch=False)
    assert missing_corpora(graph) == set()
    assert "lacks" not in plan_text(plans, graph, tmp_path / "out")


def test_a_corpus_in_the_wrong_form_is_named(corpora, tiny_recipe, tmp_path):
    plans, _ = plan_recipes([tiny_recipe(raw=["topics", "20newsgroups"])], "small", fetch=False)
    assert plans[0].raw == {"topics": True}, "known in one form only; the other is not used"
    lines = missing_lines([replace(plans[0], raw={"20newsgroups": False})])
    assert lines[0] == "Data that tiny wants as raw text: 20newsgroups."
    assert "get 20news-bydate.tar.gz" in lines[1]
