"""What runs have in common is one stage, and a stage is told by all that its result depends on."""

from __future__ import annotations

import json

import pytest

from masker.errors import ConfigError, DataError
from masker.experiments.data_selection import read_selections
from masker.experiments.plan import plan_recipe, vanilla_settings
from masker.experiments.recipe import load_recipe
from masker.experiments.stages import Stage
from tests.experiments.conftest import write_corpus


def kinds(plan):
    found = {}
    for stage in plan.graph.stages.values():
        found[stage.kind] = found.get(stage.kind, 0) + 1
    return found


def test_the_vanilla_row_is_the_keyword_source_of_every_other_row(corpora, tiny_recipe):
    plan = plan_recipe(load_recipe(tiny_recipe()), "small", seeds=[0])
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
    plan = plan_recipe(load_recipe(path), "small", seeds=[0])
    assert kinds(plan) == {"train": 3, "evaluate": 2, "keywords": 1}
    epochs = sorted(s.inputs["settings"]["training"]["epochs"] for s in plan.graph.stages.values() if s.kind == "train")
    assert epochs == [2, 3, 5]
    path = tiny_recipe(systems={
        "vanilla": {"title": "v", "settings": {"training": {"method": "vanilla"}, "model": {"head": "multi-class"}}},
        "masker": {"title": "m", "settings": {"training": {"method": "masker"}}},
    })  # fmt: skip
    assert kinds(plan_recipe(load_recipe(path), "small", seeds=[0]))["train"] == 3


def test_frequency_keywords_need_no_vanilla_model(corpora, tiny_recipe):
    only = {"training": {"method": "masker"}, "keywords": {"source": "frequency"}}
    path = tiny_recipe(systems={"masker": {"title": "m", "settings": only}}, comparisons=[])
    assert kinds(plan_recipe(load_recipe(path), "small", seeds=[0])) == {"train": 1, "evaluate": 1}


def test_seeds_share_nothing_and_their_number_can_be_chosen(corpora, tiny_recipe):
    recipe = load_recipe(tiny_recipe())
    both, one = plan_recipe(recipe, "small"), plan_recipe(recipe, "small", seeds=[1])
    assert len(both.graph.stages) == 2 * len(one.graph.stages)
    assert set(one.graph.stages) < set(both.graph.stages)
    assert [run.seed for run in both.runs] == [0, 0, 0, 1, 1, 1]


def test_a_stage_is_plain_data(corpora, tiny_recipe):
    for stage in plan_recipe(load_recipe(tiny_recipe()), "small").graph.stages.values():
        assert Stage.from_dict(json.loads(json.dumps(stage.as_dict()))) == stage


def test_other_text_under_the_same_name_is_another_experiment(data_folder, tiny_recipe, tmp_path, monkeypatch):
    recipe = load_recipe(tiny_recipe())
    monkeypatch.setenv("MASKER_DATA", str(data_folder))
    before = plan_recipe(recipe, "small", seeds=[0])
    other = tmp_path / "other"
    other.mkdir()
    for file in data_folder.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    monkeypatch.setenv("MASKER_DATA", str(other))
    assert set(plan_recipe(recipe, "small", seeds=[0]).graph.stages) == set(before.graph.stages)
    write_corpus(other, "foreign", "test", [{"text": "other words", "label": "food"}] * 3)
    from masker.experiments import data_selection as selection

    selection._file_sha256.cache_clear()
    after = plan_recipe(recipe, "small", seeds=[0])
    shared = set(after.graph.stages) & set(before.graph.stages)
    assert {before.graph.stages[i].kind for i in shared} == {"train", "keywords"}, "only evaluations read that file"
    part = next(s for s in before.graph.stages.values() if s.kind == "evaluate").inputs["ood"]["SST-2"]
    with pytest.raises(DataError, match="is not the file that this experiment was planned with"):
        read_selections(part)


def test_class_ratio_of_the_scale_and_unseen_classes(corpora, tiny_recipe):
    whole = plan_recipe(load_recipe(tiny_recipe()), "small", seeds=[0])
    assert whole.runs[0].sets == ("known classes", "SST-2") and whole.runs[0].ratio == 100
    half = plan_recipe(load_recipe(tiny_recipe(scale={"class_ratio": 0.5, "test_documents": 9})), "small", seeds=[0])
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
        plan = plan_recipe(load_recipe(path), "small", seeds=[0, 1, 2, 3])
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


def test_known_classes_are_drawn_from_training_documents(corpora, tiny_recipe, tmp_path, monkeypatch):
    """The test part has a class more and one less, and would draw others on its own."""
    folder = tmp_path / "uneven"
    folder.mkdir()
    for split, names in (("train", "abcdefgh"), ("test", "bcdefghxyz")):
        write_corpus(folder, "uneven", split, [{"text": f"word {name}", "label": name} for name in names])
    monkeypatch.setenv("MASKER_DATA", str(folder))
    part = {"corpus": "uneven", "sha256": [None], "genre": [], "labels": [], "without_labels": [], "documents": None}
    for seed in range(8):
        drawn = part | {"class_ratio": 0.5, "class_seed": seed}
        train = set(read_selections([drawn | {"split": ["train"], "classes": "seen"}]).class_names)
        seen, unseen = (set(read_selections([drawn | {"split": ["test"], "classes": classes}]).class_names)
                        for classes in ("seen", "unseen"))  # fmt: skip
        assert len(train) == 4 and seen == train - {"a"} and unseen == set("bcdefghxyz") - train


def test_a_file_of_the_users_is_told_by_its_content(corpora, tiny_recipe, tmp_path):
    words = tmp_path / "words.txt"
    recipe = load_recipe(tiny_recipe())

    def goals(text):
        words.write_text(text)
        plan = plan_recipe(recipe, "small", seeds=[0], overrides=[f"keywords.source={words}"])
        return {run.system: run.goal for run in plan.runs}

    one, other, again = goals("bread\n"), goals("soup\n"), goals("bread\n")
    assert one == again
    assert one["masker"] != other["masker"] and one["vanilla"] == other["vanilla"]


def test_what_tells_runs_apart_is_no_setting_of_every_run(corpora, tiny_recipe):
    recipe = load_recipe(tiny_recipe())
    for override, option in (
        ("model.backbone=other", "--backbone"),
        ("training.seed=7", "--seeds"),
        ("training.method=vanilla", "--only system=NAME"),
    ):
        with pytest.raises(ConfigError, match=f"--set {override}: runs differ in it; use {option}"):
            plan_recipe(recipe, "small", overrides=[override])
    assert [run.seed for run in plan_recipe(recipe, "small", seeds=[1, 1], only=["system=mkr"]).runs] == [1]


def test_epochs_follow_the_method_wherever_it_is_said(corpora, tiny_recipe):
    settings = {"model": {"max_length": 24}, "training": {"method": "vanilla"}}
    path = tiny_recipe(settings=settings, systems={"plain": {"title": "p", "settings": {}}}, comparisons=[])
    plan = plan_recipe(load_recipe(path), "small", seeds=[0])
    (stage,) = (stage for stage in plan.graph.stages.values() if stage.kind == "train")
    assert stage.inputs["settings"]["training"]["epochs"] == 2


def test_a_system_may_have_epochs_of_its_own(corpora, tiny_recipe, tiny_backbones):
    vanilla = {"training": {"method": "vanilla"}}
    systems = {name: {"title": name, "settings": vanilla} for name in ("vanilla", "long")}
    encoder = {"model": tiny_backbones["bert"], "epochs": {"vanilla": 2, "long": 5}}
    path = tiny_recipe(systems=systems, comparisons=[], scale={"backbones": {"BERT": encoder}})
    stages = plan_recipe(load_recipe(path), "small", seeds=[0]).graph.stages.values()
    assert [s.inputs["settings"]["training"]["epochs"] for s in stages if s.kind == "train"] == [2, 5]


def test_a_warm_start_depends_on_the_model_that_gave_the_keywords(corpora, tiny_recipe):
    warm = {"training": {"method": "masker", "warm_start": True, "epochs": 2}}
    path = tiny_recipe(systems={
        "vanilla": {"title": "v", "settings": {"training": {"method": "vanilla", "epochs": 2}}},
        "masker": {"title": "m", "settings": warm},
    })  # fmt: skip
    plan = plan_recipe(load_recipe(path), "small", seeds=[0])
    assert kinds(plan) == {"train": 2, "evaluate": 2, "keywords": 1}
    stages = plan.graph.stages
    vanilla, masker = (stages[stages[run.goal].depends_on[0]] for run in plan.runs)
    keywords, start = masker.depends_on
    assert stages[keywords].depends_on == (vanilla.id,) and start == vanilla.id


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
    plan = plan_recipe(load_recipe(path), "small", seeds=[0])
    train = next(iter(plan.graph.stages.values())).inputs["data"]
    assert read_selections([train]).class_names == ["dinner", "space", "sport"]
    tests = plan.graph.stages[plan.runs[0].goal].inputs["tests"]
    assert len(read_selections(tests["a"])) == (64 + 32) / 4
    assert len(read_selections(tests["b"])) == 5
    pairs = {"corpus": "pairs", "split": ["dev", "test"], "sha256": [None, None], "genre": ["loud"], "labels": []}
    pairs |= {"without_labels": [], "class_ratio": None, "classes": "seen", "documents": None}
    calm = read_selections([pairs], regression=True)
    assert len(calm) == (8 + 16) / 2 and calm.pairs is not None and isinstance(calm.labels[0], float)


def test_choosing_runs(corpora, tiny_recipe):
    recipe = load_recipe(tiny_recipe())
    plan = plan_recipe(recipe, "small", only=["system=MASKER", "system=mkr", "train=newsgroup"])
    assert {run.system for run in plan.runs} == {"masker", "mkr"}
    with pytest.raises(ConfigError, match=r"no run .* matches --only system=maskr; .*system: vanilla, masker, mkr"):
        plan_recipe(recipe, "small", only=["system=maskr"])
    with pytest.raises(ConfigError, match=r"--only takes KEY=VALUE .* Did you mean 'system'"):
        plan_recipe(recipe, "small", only=["sytem=masker"])
    with pytest.raises(ConfigError, match="has the scales small; got 'paper'"):
        plan_recipe(recipe, "paper")
    with pytest.raises(ConfigError, match=r"loss\.lambda_mer"):
        plan_recipe(recipe, "small", overrides=["loss.lambda_mer=-1"])


def test_backbones_of_the_user(corpora, tiny_recipe, tiny_backbones):
    recipe = load_recipe(tiny_recipe())
    plan = plan_recipe(recipe, "small", backbones=[tiny_backbones["albert"]], seeds=[0])
    assert {(run.backbone, run.model) for run in plan.runs} == {("BERT", tiny_backbones["albert"])}
    assert plan.runs[0].name == "newsgroup.albert.vanilla.seed0"
    with pytest.raises(ConfigError, match="both stand for BERT"):
        plan_recipe(recipe, "small", backbones=["one", "two"])


def test_a_plan_can_be_shown_without_the_corpora(tiny_recipe, monkeypatch):
    monkeypatch.delenv("MASKER_DATA", raising=False)
    recipe = load_recipe(tiny_recipe())
    plan = plan_recipe(recipe, "small", fetch=False)
    assert next(iter(plan.graph.stages.values())).inputs["data"]["sha256"] == [None]
    with pytest.raises(DataError, match="topics"):
        plan_recipe(recipe, "small")


def test_vanilla_settings_hold_nothing_that_vanilla_training_does_not_use(tiny_settings):
    one = tiny_settings(loss={"lambda_mkr": 0.5}, masking={"context": "drop"}, keywords={"count": 3})
    other = tiny_settings(training={"method": "vanilla"})
    assert vanilla_settings(one, 2) == vanilla_settings(other, 2)
    assert vanilla_settings(one, 2) != vanilla_settings(one, 3)
    assert vanilla_settings(one, 2).masking.context == "mask", "the paper's, whatever the package's default is"
    assert vanilla_settings(tiny_settings(model={"head": "multi-class"}), 2) != vanilla_settings(other, 2)


def test_estimates_grow_with_the_work(corpora, tiny_recipe):
    def seconds(**scale):
        plan = plan_recipe(load_recipe(tiny_recipe(scale=scale)), "small", seeds=[0])
        return {stage.title.split(" ·")[0]: stage.seconds for stage in plan.graph.stages.values()}

    few, many = seconds(train_documents=1000), seconds(train_documents=2000)
    assert few["train vanilla"] < few["train mkr"] < few["train masker"] < many["train masker"]
    assert few["evaluate masker"] == many["evaluate masker"]
