"""Estimates before anything has run: they grow with the work, and there are none for hardware never measured."""

from __future__ import annotations

import pytest

from masker.config import build_settings
from masker.experiments.cost import (
    CHECKPOINT_S,
    EXTEND_S,
    GROUP_S,
    MEASURED_ON,
    OPEN_S,
    open_world_seconds,
    rows_of,
    scoring_seconds,
    training_seconds,
    unmeasured_hardware,
)
from masker.experiments.plan import RunOptions, plan_recipe
from masker.experiments.recipe import load_recipe, recipe_names


def test_estimates_grow_with_the_work(corpora, tiny_recipe):
    def seconds(**scale):
        plan = plan_recipe(load_recipe(tiny_recipe(scale=scale)), "small", RunOptions(seeds=[0]))
        return {stage.title.split(" ·")[0]: stage.seconds for stage in plan.graph.stages.values()}

    few, many = seconds(train_documents=1000), seconds(train_documents=2000)
    assert few["train vanilla"] < few["train mkr"] < few["train masker"] < many["train masker"]
    assert few["evaluate masker"] == many["evaluate masker"]


PART = {"corpus": "20newsgroups", "split": ["train"], "class_ratio": 0.25, "classes": "seen", "documents": None}


def test_rows_follow_split_ratio_and_limit():
    """11,314 training documents: a quarter is 2,828 (rounded down), three quarters 8,485; test has 7,532."""
    assert rows_of([PART]) == 2828
    assert rows_of([{**PART, "classes": "unseen"}]) == 8485
    assert rows_of([{**PART, "documents": 1000}, {**PART, "split": ["test"], "class_ratio": None}]) == 1000 + 7532


def test_rows_follow_texts_per_class_and_the_classes_of_training():
    """64 classes: half of them with five texts each are 160. 1,076 test texts: half of them belong to those classes."""
    few = {**PART, "corpus": "hwu64", "class_ratio": 0.5, "per_class": 5}
    assert rows_of([few]) == 160
    assert rows_of([{**few, "per_class": 1000}]) == 8954 // 2
    test = {**PART, "corpus": "hwu64", "split": ["test"], "class_ratio": None, "classes": "trained", "trained_on": few}
    assert rows_of([test]) == 1076 // 2


def settings(method, **sections):
    base = {"training": {"method": method, "epochs": 2}, "model": {"max_length": 64}}
    return build_settings(base, {"masking": {"context": "mask"}}, sections)


def test_training_by_hand():
    """1,000 documents, 10 % held out, 64 tokens: 900 x 17 ms = 15.3 s an epoch; 900 x 24.25 ms = 21.825 s with
    two views of a quarter of the documents.

    A linear classifier reads each document once, 900 x 5 ms = 4.5 s; TF-IDF and DOC's convolution need no encoder,
    900 x 2 ms = 1.8 s, whatever encoder the settings name.
    """
    data = {**PART, "documents": 1000}
    assert training_seconds(data, settings("vanilla")) == pytest.approx(OPEN_S + 2 * (15.3 + CHECKPOINT_S))
    assert training_seconds(data, settings("masker")) == pytest.approx(OPEN_S + 2 * (21.825 + CHECKPOINT_S))
    assert training_seconds(data, settings("linear")) == pytest.approx(OPEN_S + 4.5)
    base = {"backbone": "bert-base-uncased", "max_length": 64}
    for method in ("ocsvm", "doc"):
        assert training_seconds(data, settings(method, model=base)) == pytest.approx(OPEN_S + 1.8)
    encoder = settings("ocsvm", baselines={"ocsvm_features": "encoder"})
    assert training_seconds(data, encoder) == pytest.approx(OPEN_S + 4.5)


@pytest.mark.parametrize(("backbone", "times"), [("bert-base-uncased", 8), ("mpnet", 8), ("granite-30m", 1)])
def test_a_base_size_encoder_costs_eight_times_as_much(backbone, times):
    small, base = settings("vanilla"), settings("vanilla", model={"backbone": backbone, "max_length": 64})
    sets = [[{**PART, "documents": 200}]]
    assert scoring_seconds(sets, base) - OPEN_S == pytest.approx(times * (scoring_seconds(sets, small) - OPEN_S))


@pytest.mark.parametrize("name", recipe_names())
def test_only_the_small_scale_has_an_estimate(name):
    recipe = load_recipe(name)
    assert unmeasured_hardware([recipe.scale("small")]) == []
    assert unmeasured_hardware([recipe.scale("small"), recipe.scale("paper")]) == ["one GPU with 16 GB"]
    assert recipe.scale("small").hardware == MEASURED_ON


def test_parts_of_the_open_world_by_hand():
    """3,766 test documents of 64 tokens and 5 ms are 18.83 s, after 3 s to open the encoder: 21.83 s in all.

    They pass it twice to be grouped, three times to compare three models, and once before and once after each of four
    extensions; groups are found for each of two budgets, among 200 texts of 1 s.
    """
    test = {**PART, "split": ["test"], "class_ratio": 0.5, "classes": "unseen"}
    inputs = {"tests": {}, "ood": {"unseen": [test]}, "labelled": PART, "options": {"budgets": [5, 9], "pool": 200}}
    seconds = {part: open_world_seconds(part, inputs, settings("vanilla")) for part in ("discover", "extend", "review")}
    assert seconds["discover"] == pytest.approx(GROUP_S + 2 * 21.83)
    assert seconds["extend"] == pytest.approx(EXTEND_S + 3 * 21.83)
    assert seconds["review"] == pytest.approx(5 * 21.83 + 4 * EXTEND_S + 2 * GROUP_S + OPEN_S + 1.0)
