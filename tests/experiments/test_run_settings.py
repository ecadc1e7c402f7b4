"""The settings of a run, and what a stage keeps of them."""

from __future__ import annotations

import pytest

from masker.config import Settings, build_settings
from masker.errors import ConfigError
from masker.experiments.plan import RunOptions, plan_recipe
from masker.experiments.recipe import load_recipe
from masker.experiments.recipe_parts import Encoder
from masker.experiments.run_settings import RunCoordinates, run_settings, user_stage_settings, vanilla_settings


def test_a_file_of_the_user_is_identified_by_its_content(corpora, tiny_recipe, tmp_path):
    words = tmp_path / "words.txt"
    recipe = load_recipe(tiny_recipe())

    def goals(text):
        words.write_text(text)
        plan = plan_recipe(recipe, "small", RunOptions(seeds=[0], overrides=[f"keywords.source={words}"]))
        return {run.system: run.goal for run in plan.runs}

    one, other, again = goals("bread\n"), goals("soup\n"), goals("bread\n")
    assert one == again
    assert one["masker"] != other["masker"] and one["vanilla"] == other["vanilla"]


def test_what_distinguishes_runs_cannot_be_overridden(corpora, tiny_recipe):
    recipe = load_recipe(tiny_recipe())
    for override, option in (
        ("model.backbone=other", "--backbone"),
        ("training.seed=7", "--seeds"),
        ("training.method=vanilla", "--only system=NAME"),
    ):
        with pytest.raises(ConfigError, match=f"--set {override}: runs differ in it; use {option}"):
            plan_recipe(recipe, "small", RunOptions(overrides=[override]))
    assert [run.seed for run in plan_recipe(recipe, "small", RunOptions(seeds=[1, 1], only=["system=mkr"])).runs] == [1]


def test_epochs_follow_the_method_wherever_it_is_set(corpora, tiny_recipe):
    settings = {"model": {"max_length": 24}, "training": {"method": "vanilla"}}
    path = tiny_recipe(settings=settings, systems={"plain": {"title": "p", "settings": {}}}, comparisons=[])
    plan = plan_recipe(load_recipe(path), "small", RunOptions(seeds=[0]))
    (stage,) = (stage for stage in plan.graph.stages.values() if stage.kind == "train")
    assert stage.inputs["settings"]["training"]["epochs"] == 2


def test_a_system_may_have_epochs_of_its_own(corpora, tiny_recipe, tiny_backbones):
    vanilla = {"training": {"method": "vanilla"}}
    systems = {name: {"title": name, "settings": vanilla} for name in ("vanilla", "long")}
    encoder = {"model": tiny_backbones["bert"], "epochs": {"vanilla": 2, "long": 5}}
    path = tiny_recipe(systems=systems, comparisons=[], scale={"backbones": {"BERT": encoder}})
    stages = plan_recipe(load_recipe(path), "small", RunOptions(seeds=[0])).graph.stages.values()
    assert [s.inputs["settings"]["training"]["epochs"] for s in stages if s.kind == "train"] == [2, 5]


def test_vanilla_settings_hold_nothing_that_vanilla_training_does_not_use(tiny_settings):
    new = {"head_start": "new"}
    one = tiny_settings(training=new, loss={"lambda_mkr": 0.5}, masking={"context": "drop"}, keywords={"count": 3})
    other = tiny_settings(training={**new, "method": "vanilla"})
    assert vanilla_settings(one, 2) == vanilla_settings(other, 2)
    assert vanilla_settings(one, 2) != vanilla_settings(one, 3)
    assert vanilla_settings(one, 2).masking.context == "mask", "the paper's, whatever the package's default is"
    multi_class = tiny_settings(training=new, model={"head": "multi-class"})
    assert vanilla_settings(multi_class, 2) != vanilla_settings(other, 2)


def test_a_system_without_an_encoder_does_not_name_one():
    encoder = Encoder(model="folder/minilm")
    assert RunCoordinates("Topics", "masker", "BERT", encoder, 3).place == "Topics · minilm · seed 3"
    assert RunCoordinates("Topics", "ocsvm", "", encoder, 3).place == "Topics · seed 3"


@pytest.mark.parametrize("name", ["quality", "quality-short", "open-intent"])
def test_systems_that_start_from_the_defaults_are_what_a_user_gets(name):
    """Whatever the defaults are: only the seed, and the length that all systems of a recipe share, are given."""
    recipe = load_recipe(name)
    scale = recipe.scale("small")
    shared = [scale.settings, {"training": {"seed": 5}}]
    for system, own in {
        "default": {},
        "linear": {"training": {"method": "linear"}},
        "vanilla": {
            "training": {"method": "vanilla"},
            "model": {"head": "multi-class"},
            "detection": {"score": "max-prob"},
        },
    }.items():
        for source in recipe.sources:
            run = RunCoordinates(source, system, "BERT", scale.backbones["BERT"], 5)
            assert run_settings(recipe, scale, run) == build_settings(*shared, own)


def test_a_preset_and_the_papers_settings_are_not_part_of_the_defaults(tiny_recipe, tiny_backbones):
    systems = {name: {"title": name, "start": name, "settings": {}} for name in ("paper", "defaults")}
    recipe = load_recipe(tiny_recipe(systems=systems, comparisons=[]))
    scale = recipe.scale("small")
    paper, user = (
        run_settings(recipe, scale, RunCoordinates("Newsgroup", name, "BERT", Encoder(model="m"), 0))
        for name in systems
    )
    assert (paper.masking.context, paper.detection.score) == ("mask", "max-prob")
    expected = build_settings(recipe.settings, {"model": {"backbone": "m"}})
    assert user == expected and user.detection.score == "auto"


def test_a_stage_of_the_defaults_decides_nothing_that_they_leave_open():
    settings = build_settings()
    inputs = user_stage_settings(settings)
    assert "missed_rate" not in inputs["settings"]["detection"], "no other head reads it"
    assert Settings.model_validate(inputs["settings"]) == settings and inputs["settings"]["training"]["epochs"] is None
    several = build_settings({"model": {"head": "multi-label"}})
    assert user_stage_settings(several)["settings"] == several.model_dump(mode="json")
    assert inputs["decided"] == {"epochs": settings.epochs, "averaged_share": settings.averaged_share}
