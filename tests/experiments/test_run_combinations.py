"""Which runs a recipe has."""

from __future__ import annotations

from masker.experiments.recipe import load_recipe
from masker.experiments.run_combinations import run_combinations
from masker.experiments.run_filter import RunFilter


def places(recipe, *only, **chosen):
    chosen = {"backbones": [], "seeds": [], **chosen}
    found = run_combinations(recipe, recipe.scale("small"), chosen["backbones"], chosen["seeds"], RunFilter(only))
    return [(run.seed, run.source, run.system) for run in found]


def test_a_system_may_run_on_some_sources_only():
    recipe = load_recipe("open-world")
    everywhere = places(recipe, seeds=[4, 4])
    assert len(everywhere) == 12 + 8 + 4 and {seed for seed, _, _ in everywhere} == {4}
    ratios = {
        part: {source.split()[-2] for _, source, system in everywhere if system == part} for part in recipe.systems
    }
    assert ratios == {"discover": {"25", "50", "75"}, "extend": {"50", "75"}, "review": {"50"}}
    assert places(recipe, "train=ATIS 50 %", seeds=[1]) == [(1, "ATIS 50 %", part) for part in recipe.systems]
    assert places(recipe, "train=atis 25 %", "system=extend") == []
    assert len(places(recipe)) == 3 * len(everywhere), "the seeds of the scale"


def test_a_roberta_stands_beside_the_papers_and_is_trained_as_long():
    """The small scale knows no RoBERTa; the paper's scale says for how many epochs one is trained."""
    recipe = load_recipe("ood-main")
    found = run_combinations(recipe, recipe.scale("small"), ["granite-30m", "minilm"], [0], RunFilter([]))
    encoders = {run.column: run.encoder for run in found if run.column}
    assert {column: encoder.model for column, encoder in encoders.items()} == {
        "RoBERTa": "granite-30m",
        "BERT": "minilm",
    }
    assert (encoders["RoBERTa"].epochs["vanilla"], encoders["RoBERTa"].epochs["masker"]) == (10, 12)
    assert (encoders["BERT"].epochs["vanilla"], encoders["BERT"].epochs["masker"]) == (3, 6)
    ablation = load_recipe("ood-ablation")  # which the paper made with BERT alone
    runs = run_combinations(ablation, ablation.scale("small"), ["granite-30m"], [0], RunFilter([]))
    assert {run.column for run in runs if run.column} == {"BERT"}
