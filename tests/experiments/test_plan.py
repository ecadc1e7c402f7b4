"""What runs have in common is one stage, and a stage is identified by all that its result depends on."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from masker.config import Settings
from masker.errors import ConfigError, DataError
from masker.experiments import cost
from masker.experiments.data_selection import read_selections
from masker.experiments.plan import RunOptions, plan_recipe
from masker.experiments.recipe import load_recipe


def kinds(plan):
    found = {}
    for stage in plan.graph.stages.values():
        found[stage.kind] = found.get(stage.kind, 0) + 1
    return found


def test_the_vanilla_row_is_the_keyword_source_of_every_other_row(corpora, tiny_recipe):
    plan = plan_recipe(load_recipe(tiny_recipe()), "small", RunOptions(seeds=[0]))
    assert kinds(plan) == {"train": 3, "evaluate": 3, "keywords": 1}
    stages = plan.graph.stages
    vanilla, masker, mkr = (stages[stages[run.goal].depends_on[0]] for run in plan.runs)
    assert vanilla.inputs["settings"]["training"]["method"] == "vanilla"
    keywords = stages[masker.depends_on[0]]
    assert keywords.kind == "keywords" and keywords.depends_on == (vanilla.id,)
    assert mkr.depends_on == (keywords.id,)


def test_a_vanilla_row_with_other_epochs_or_another_head_is_not_the_keyword_source(corpora, tiny_recipe):
    """MASKER of 5 epochs reads its keywords off a vanilla model of 3, as it would alone; the row has 2."""
    path = tiny_recipe(systems={
        "vanilla": {"title": "v", "settings": {"training": {"method": "vanilla", "epochs": 2}}},
        "masker": {"title": "m", "settings": {"training": {"method": "masker", "epochs": 5}}},
    })  # fmt: skip
    plan = plan_recipe(load_recipe(path), "small", RunOptions(seeds=[0]))
    assert kinds(plan) == {"train": 3, "evaluate": 2, "keywords": 1}
    epochs = sorted(s.inputs["settings"]["training"]["epochs"] for s in plan.graph.stages.values() if s.kind == "train")
    assert epochs == [2, 3, 5]
    path = tiny_recipe(systems={
        "vanilla": {"title": "v", "settings": {"training": {"method": "vanilla"}, "model": {"head": "multi-class"}}},
        "masker": {"title": "m", "settings": {"training": {"method": "masker"}}},
    })  # fmt: skip
    assert kinds(plan_recipe(load_recipe(path), "small", RunOptions(seeds=[0])))["train"] == 3


def test_frequency_keywords_need_no_vanilla_model(corpora, tiny_recipe):
    only = {"training": {"method": "masker"}, "keywords": {"source": "frequency"}}
    path = tiny_recipe(systems={"masker": {"title": "m", "settings": only}}, comparisons=[])
    assert kinds(plan_recipe(load_recipe(path), "small", RunOptions(seeds=[0]))) == {"train": 1, "evaluate": 1}


def test_seeds_share_nothing_and_their_number_can_be_chosen(corpora, tiny_recipe):
    recipe = load_recipe(tiny_recipe())
    both, one = plan_recipe(recipe, "small"), plan_recipe(recipe, "small", RunOptions(seeds=[1]))
    assert len(both.graph.stages) == 2 * len(one.graph.stages)
    assert set(one.graph.stages) < set(both.graph.stages)
    assert [run.seed for run in both.runs] == [0, 0, 0, 1, 1, 1]


def test_a_stage_is_plain_data(corpora, tiny_recipe):
    for stage in plan_recipe(load_recipe(tiny_recipe()), "small").graph.stages.values():
        assert json.loads(json.dumps(asdict(stage))) == {**asdict(stage), "depends_on": list(stage.depends_on)}


def test_class_ratio_of_the_scale_and_unseen_classes(corpora, tiny_recipe):
    whole = plan_recipe(load_recipe(tiny_recipe()), "small", RunOptions(seeds=[0]))
    assert whole.runs[0].sets == ("known classes", "SST-2") and whole.runs[0].ratio == 100
    recipe = load_recipe(tiny_recipe(scale={"class_ratio": 0.5, "test_documents": 9}))
    half = plan_recipe(recipe, "small", RunOptions(seeds=[0]))
    assert half.runs[0].sets == ("known classes", "SST-2", "unseen classes") and half.runs[0].ratio == 50
    inputs = half.graph.stages[half.runs[0].goal].inputs
    known, unseen = (read_selections(inputs[kind][name]) for kind, name in
                     (("tests", "known classes"), ("ood", "unseen classes")))  # fmt: skip
    assert len(known) == len(unseen) == 9
    assert len(known.class_names) == len(unseen.class_names) == 2
    assert not set(known.class_names) & set(unseen.class_names)
    foreign = read_selections(inputs["ood"]["SST-2"])
    assert foreign.class_names == ["food", "space"], "a corpus without a ratio is not split"


def test_each_seed_may_know_other_classes(corpora, tiny_recipe):
    def known_classes(**recipe):
        path = tiny_recipe(scale={"class_ratio": 0.5}, **recipe)
        plan = plan_recipe(load_recipe(path), "small", RunOptions(seeds=[0, 1, 2, 3]))
        found = []
        for run in plan.runs:
            if run.system == "vanilla":
                inputs = plan.graph.stages[run.goal].inputs
                seen = read_selections(inputs["tests"]["known classes"]).class_names
                unseen = read_selections(inputs["ood"]["unseen classes"]).class_names
                train = plan.graph.stages[plan.graph.stages[run.goal].depends_on[0]].inputs["data"]
                assert read_selections([train]).class_names == seen and not set(seen) & set(unseen)
                found.append(tuple(seen))
        return found

    once, by_seed = known_classes(), known_classes(split_by_seed=True)
    assert len(set(once)) == 1 < len(set(by_seed))
    assert by_seed[0] == once[0]


def test_stand_ins_genres_labels_and_joined_splits(corpora, tiny_recipe):
    path = tiny_recipe(
        sources={"S": {
            "train": {"corpus": "gone", "split": "train"},
            "tests": {"a": {"corpus": "topics", "split": ["train", "test"], "labels": ["food"]},
                      "b": [{"corpus": "topics", "split": "test", "documents": 3},
                            {"corpus": "foreign", "split": "test", "documents": 2}]},
        }},
        metrics=["accuracy"],
        scale={"stand_ins": {"gone": {"corpus": "topics", "without_labels": ["food"], "reason": "it is gone"}}},
    )  # fmt: skip
    plan = plan_recipe(load_recipe(path), "small", RunOptions(seeds=[0]))
    train = next(iter(plan.graph.stages.values())).inputs["data"]
    assert read_selections([train]).class_names == ["dinner", "space", "sport"]
    tests = plan.graph.stages[plan.runs[0].goal].inputs["tests"]
    assert len(read_selections(tests["a"])) == (64 + 32) / 4
    assert len(read_selections(tests["b"])) == 5
    pairs = {"corpus": "pairs", "split": ["dev", "test"], "sha256": [None, None], "genre": ["loud"], "labels": []}
    pairs |= {"without_labels": [], "class_ratio": None, "classes": "seen", "documents": None}
    calm = read_selections([pairs], regression=True)
    assert len(calm) == (8 + 16) / 2 and calm.pairs is not None and isinstance(calm.labels[0], float)


def test_a_plan_can_be_shown_without_the_corpora(tiny_recipe, monkeypatch):
    monkeypatch.delenv("MASKER_DATA", raising=False)
    recipe = load_recipe(tiny_recipe())
    plan = plan_recipe(recipe, "small", fetch=False)
    assert next(iter(plan.graph.stages.values())).inputs["data"]["sha256"] == [None]
    with pytest.raises(DataError, match="topics"):
        plan_recipe(recipe, "small")


def test_choosing_runs(corpora, tiny_recipe):
    recipe = load_recipe(tiny_recipe())
    plan = plan_recipe(recipe, "small", RunOptions(only=["system=MASKER", "system=mkr", "train=newsgroup"]))
    assert {run.system for run in plan.runs} == {"masker", "mkr"}
    with pytest.raises(ConfigError, match=r"no run .* matches --only system=maskr; .*system: vanilla, masker, mkr"):
        plan_recipe(recipe, "small", RunOptions(only=["system=maskr"]))
    with pytest.raises(ConfigError, match=r"--only takes KEY=VALUE .* Did you mean 'system'"):
        plan_recipe(recipe, "small", RunOptions(only=["sytem=masker"]))
    with pytest.raises(ConfigError, match="has the scales small; got 'paper'"):
        plan_recipe(recipe, "paper")
    with pytest.raises(ConfigError, match=r"loss\.lambda_mer"):
        plan_recipe(recipe, "small", RunOptions(overrides=["loss.lambda_mer=-1"]))


def test_encoders_of_the_user(corpora, tiny_recipe, tiny_backbones):
    recipe = load_recipe(tiny_recipe())
    plan = plan_recipe(recipe, "small", RunOptions(backbones=[tiny_backbones["albert"]], seeds=[0]))
    assert {(run.backbone, run.model) for run in plan.runs} == {("BERT", tiny_backbones["albert"])}
    assert plan.runs[0].name == "newsgroup.albert.vanilla.seed0"
    with pytest.raises(ConfigError, match="would both be compared with BERT"):
        plan_recipe(recipe, "small", RunOptions(backbones=["one", "two"]))


def test_the_score_of_a_system_is_checked_before_anything_runs(corpora, tiny_recipe):
    system = {"title": "m", "settings": {"training": {"method": "masker"}}, "score": "entropie"}
    recipe = load_recipe(tiny_recipe(systems={"masker": system}, comparisons=[]))
    with pytest.raises(ConfigError, match=r"detection\.score"):
        plan_recipe(recipe, "small")


def test_an_unknown_method_is_named(corpora, tiny_recipe):
    systems = {"masker": {"title": "m", "settings": {"training": {"method": "maskr"}}}}
    with pytest.raises(ConfigError, match=r"training\.method.*masker"):
        plan_recipe(load_recipe(tiny_recipe(systems=systems, comparisons=[])), "small")


def test_a_system_that_starts_from_the_defaults_is_one_stage_and_shares_nothing(corpora, tiny_recipe):
    masker = {"training": {"method": "masker"}}
    systems = {name: {"title": name, "start": name, "settings": masker} for name in ("paper", "defaults")}
    plan = plan_recipe(load_recipe(tiny_recipe(systems=systems, comparisons=[])), "small", RunOptions(seeds=[0]))
    assert kinds(plan) == {"train": 3, "evaluate": 2, "keywords": 1}, "vanilla, its keywords and MASKER; and MASKER"
    stages = plan.graph.stages
    paper, user = (stages[stages[run.goal].depends_on[0]] for run in plan.runs)
    assert paper.depends_on and not user.depends_on
    assert user.inputs["settings"]["detection"]["score"] == "auto", "in full"
    assert "detection" not in paper.inputs["settings"] or "score" not in paper.inputs["settings"]["detection"]
    alone = cost.training_seconds(user.inputs["data"], Settings.model_validate(user.inputs["settings"]))
    assert user.seconds > alone, "its vanilla stage is counted"
