"""Every recipe of the package: it loads, its settings are valid, and its cells are those of the paper."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
import yaml

from masker.errors import ConfigError
from masker.experiments.paper_numbers import find_number, paper_table, paper_tables
from masker.experiments.plan import Run, RunOptions, plan_recipe
from masker.experiments.recipe import load_recipe, recipe_names
from masker.experiments.recipe_parts import DETECTION_METRICS
from masker.experiments.run_settings import RunCoordinates, run_settings
from masker.experiments.summary import cells_of

RECIPES = recipe_names()
#: Their texts are shorter than any limit.
SHORT_TEXTS = ("quality-short", "open-intent")
TABLES = [name for name in RECIPES if load_recipe(name).analysis is None]


def test_there_is_one_for_each_table_and_figure():
    expected = (
        "ood-ablation ood-main split-ratio classification-accuracy cross-domain-ablation cross-domain nli stsb "
        "keyword-comparison keyword-heatmap tsne attention-analysis context-form reliance defaults quality "
        "quality-short open-intent false-alarms"
    )
    assert sorted(expected.split()) == RECIPES
    answered = {table for name in RECIPES for table in load_recipe(name).paper_tables}
    assert answered == set(paper_tables())


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("scale_name", ["small", "paper"])
def test_settings_are_valid_at_every_scale(name, scale_name):
    recipe = load_recipe(name)
    assert recipe.name == name
    scale = recipe.scale(scale_name)
    for source in recipe.sources:
        for system in recipe.systems:
            for column, encoder in scale.backbones.items():
                settings = run_settings(recipe, scale, RunCoordinates(source, system, column, encoder, 3))
                assert settings.training.seed == 3
                assert settings.model.backbone == encoder.model


@pytest.mark.parametrize("name", RECIPES)
def test_the_header_says_how_to_run_it(name):
    text = (files("masker.experiments") / "recipes" / f"{name}.yaml").read_text()
    header = text[: text.index("\nname:")]
    for scale in ("small", "paper"):
        assert any(name in line and f"--scale {scale}" in line for line in header.splitlines()), header
    assert "2 CPU cores" in header and "GPU" in header and "Expected" in header


@pytest.mark.parametrize("name", RECIPES)
def test_the_small_scale_is_small(name):
    scale = load_recipe(name).scale("small")
    assert [backbone.model for backbone in scale.backbones.values()] == ["minilm"]
    assert scale.train_documents is not None and scale.train_documents <= 4000
    assert scale.test_documents is None or scale.test_documents >= 1000
    if name not in SHORT_TEXTS:
        assert scale.settings["model"]["max_length"] <= 128
    assert "amazon50" not in {stand_in.corpus for stand_in in scale.stand_ins.values()}


def paper_runs(recipe):
    """The runs at the paper's scale, without planning their stages."""
    scale = recipe.scale("paper")
    for source_name in scale.sources or recipe.sources:
        source = recipe.sources[source_name]
        ratio = source.train.class_ratio
        ood = [name for name, parts in source.ood.items() if ratio != 1.0 or parts[0].classes == "seen"]
        for system_name, system in recipe.systems.items():
            for column, backbone in scale.backbones.items():
                yield Run(
                    source_name,
                    "" if system.backbone_free else column,
                    backbone.model,
                    system_name,
                    0,
                    "",
                    None if ratio is None else round(100 * ratio),
                    (*source.tests, *ood),
                )


@pytest.mark.parametrize("name", TABLES)
def test_every_cell_that_should_have_a_paper_figure_has_one(name):
    recipe = load_recipe(name)
    for run in paper_runs(recipe):
        source, system = recipe.sources[run.source], recipe.systems[run.system]
        for cell in cells_of(recipe, run):
            expected = source.in_paper and system.in_paper and source.paper_tests.get(cell["test"], "") is not None
            if name == "ood-ablation" and run.source == "Newsgroup":
                continue  # our addition, of which ood_more happens to have three rows
            if cell["metric"] == "accuracy" and run.system == "ocsvm":
                expected = False  # has no classes
            if name == "cross-domain-ablation" and cell["test"] == run.source:
                expected = False  # this table prints the training domain only through the gap
            assert ("paper" in cell) == expected, cell


def test_every_number_of_the_paper_is_answered_by_a_cell():
    found = set()
    for name in TABLES:
        recipe = load_recipe(name)
        for run in paper_runs(recipe):
            source = recipe.sources[run.source]
            for cell in cells_of(recipe, run):
                keys = {"train": source.paper or run.source, "test": source.paper_tests.get(cell["test"], cell["test"])}
                keys |= {"ratio": run.ratio, "backbone": run.backbone or None}
                for table in recipe.paper_tables:
                    number = find_number([table], **keys, system=run.system, metric=cell["metric"])
                    if number is not None:
                        found.add((table, tuple(sorted(number.cell.items()))))
    every = {
        (name, tuple(sorted(number.cell.items()))) for name in paper_tables() for number in paper_table(name).numbers
    }
    assert every - found == set()


def test_metrics_of_ood_sets_and_of_test_sets_are_told_apart():
    recipe = load_recipe("split-ratio")
    run = next(run for run in paper_runs(recipe) if run.source == "Newsgroup 25 %")
    by_metric = {cell["metric"]: cell["test"] for cell in cells_of(recipe, run)}
    assert by_metric.pop("accuracy") == "known classes"
    assert set(by_metric.values()) == {"unseen classes"} and set(by_metric) <= set(DETECTION_METRICS)


def test_small_ablation_shares_its_models_with_the_small_main_table(monkeypatch):
    """Same documents, same settings: what ood-main has trained, ood-ablation does not train again."""
    monkeypatch.delenv("MASKER_DATA", raising=False)
    only = ["system=vanilla", "system=vanilla-1-vs-rest", "system=masker"]
    plans = [
        plan_recipe(load_recipe(name), "small", RunOptions(seeds=[0], only=only), fetch=False)
        for name in ("ood-main", "ood-ablation")
    ]
    main, ablation = ({i for i, stage in plan.graph.stages.items() if stage.kind == "train"} for plan in plans)
    assert main == ablation and len(main) == 6


def test_reliance_audits_the_models_of_the_main_tables(monkeypatch):
    """Run together, the recipes train vanilla and MASKER once; the longer vanilla training on IMDB is new."""
    monkeypatch.delenv("MASKER_DATA", raising=False)
    names = ("reliance", "ood-main", "cross-domain")
    plans = [plan_recipe(load_recipe(name), "small", fetch=False) for name in names]
    trained, *others = ({i for i, stage in plan.graph.stages.items() if stage.kind == "train"} for plan in plans)
    assert len(trained) == 12 and [len(trained & other) for other in others] == [6, 4]


def test_a_file_of_the_user_and_what_is_wrong_with_it(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("extends: nli\nname: mine\ntitle: Mine\n")
    assert load_recipe(str(path)).metrics == ["accuracy"]
    path.write_text("extends: classification-accuracy\nname: mine\n")
    assert load_recipe(str(path)).sources == load_recipe("ood-main").sources, "by way of the recipe it extends"
    path.write_text("extends: nli\nname: mine\nmetrics: [acuracy]\nsystem: {}\n")
    with pytest.raises(ConfigError) as caught:
        load_recipe(str(path))
    lines = str(caught.value).splitlines()
    assert len(lines) == 2 and all("mine.yaml" in line for line in lines)
    for text, message in (("- 1", "must contain keys"), ("a: [", "cannot read recipe file")):
        path.write_text(text)
        with pytest.raises(ConfigError, match=message):
            load_recipe(str(path))
    with pytest.raises(ConfigError, match="does not exist"):
        load_recipe(str(tmp_path / "none.yaml"))
    with pytest.raises(ConfigError, match="Did you mean 'ood-main'"):
        load_recipe("ood-mein")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"comparisons": [{"system": "masker", "baseline": "nobody", "metric": "accuracy"}]}, "'nobody'"),
        ({"analysis": {"kind": "tsne", "figure": "x"}}, "either a table"),
        ({"metrics": []}, "needs metrics"),
        (
            {
                "sources": {
                    "S": {
                        "train": {"corpus": "c", "split": "train", "classes": "trained"},
                        "tests": {"t": {"corpus": "c", "split": "test"}},
                    }
                }
            },
            "for test sets only",
        ),
        (
            {
                "systems": {"masker": {"title": "m", "start": "defaults"}},
                "comparisons": [],
                "table": None,
                "metrics": [],
                "analysis": {"kind": "keywords"},
            },
            "'keywords' needs a keyword stage",
        ),
    ],
)
def test_names_inside_a_recipe_are_checked(tmp_path, change, message):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({"extends": "nli", "name": "mine", **change}))
    with pytest.raises(ConfigError, match=message):
        load_recipe(str(path))


def test_the_recipe_of_the_documentation_can_be_planned(tmp_path, monkeypatch):
    monkeypatch.delenv("MASKER_DATA", raising=False)
    text = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text(encoding="utf-8")
    path = tmp_path / "mine.yaml"
    path.write_text(text.split("```yaml\n")[1].split("```")[0])
    plan = plan_recipe(load_recipe(str(path)), "small", RunOptions(seeds=[0]), fetch=False)
    assert {run.system for run in plan.runs} == {"vanilla", "masker-10", "masker-30"}


def test_texts_of_the_same_class_split_in_every_size(monkeypatch):
    """Five, ten and all texts of a class: the same known classes, and the same tests."""
    monkeypatch.delenv("MASKER_DATA", raising=False)
    plan = plan_recipe(
        load_recipe("quality-short"), "small", RunOptions(seeds=[2], only=["system=linear"]), fetch=False
    )
    assert len(plan.runs) == 12
    stages = plan.graph.stages
    data = {run.source: stages[stages[run.goal].depends_on[0]].inputs["data"] for run in plan.runs}
    five, whole = data["HWU64 50 % × 5"], data["HWU64 50 % all"]
    assert (five["per_class"], five["class_seed"], whole["class_seed"]) == (5, 2, 2)
    assert five["documents"] == whole["documents"] == 4000 and "per_class" not in whole
    assert "class_seed" not in data["HINT3 curekart"], "its seeds differ in training only"
    for run in plan.runs:
        inputs = stages[run.goal].inputs
        assert inputs["tests"]["known classes"][0]["trained_on"] == data[run.source]
        assert set(inputs["ood"]) in ({"unseen classes", "SST-2"}, {"none of the intents", "SST-2"})


def test_open_intent_knows_a_quarter_a_half_and_three_quarters(monkeypatch):
    monkeypatch.delenv("MASKER_DATA", raising=False)
    recipe = load_recipe("open-intent")
    small, whole = (plan_recipe(recipe, scale, fetch=False) for scale in ("small", "paper"))
    assert {(run.source.split()[0], run.ratio) for run in small.runs} == {
        (corpus, ratio) for corpus in ("HWU64", "SNIPS", "ATIS") for ratio in (25, 50, 75)
    }
    assert {run.source for run in whole.runs} - {run.source for run in small.runs} == {
        f"Banking77 {ratio} %" for ratio in (25, 50, 75)
    }
    for run in small.runs[:1]:
        cells = [(cell["metric"], cell["test"]) for cell in cells_of(recipe, run)]
        assert cells == [
            *((name, "unseen classes") for name in ("open_accuracy", "open_f1", "f1_known", "f1_unknown", "auroc")),
            ("accuracy", "known classes"),
            ("false_alarms", "known classes"),
        ]
