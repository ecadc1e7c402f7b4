"""Every recipe of the package: it loads, its settings are valid, and its cells are those of the paper."""

from __future__ import annotations

import json
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
#: What makes a recipe one of open-world.
OPEN_WORLD = {"comparisons": [], "table": None, "metrics": [], "analysis": {"kind": "open-world"}}
#: Sources, and what a scale cannot do without.
TWO = {
    name: {"train": {"corpus": "c", "split": "train"}, "tests": {"t": {"corpus": "c", "split": "test"}}}
    for name in "ST"
}
SMALL = {"hardware": "any", "backbones": {"BERT": {"model": "minilm"}}, "seeds": [1]}
TABLES = [name for name in RECIPES if load_recipe(name).analysis is None]


def test_there_is_one_for_each_table_and_figure():
    expected = (
        "ood-ablation ood-main split-ratio classification-accuracy cross-domain-ablation cross-domain nli stsb "
        "keyword-comparison keyword-heatmap tsne attention-analysis context-form reliance defaults quality "
        "quality-short open-intent false-alarms regularizer open-world"
    )
    assert sorted(expected.split()) == RECIPES
    answered = {table for name in RECIPES for table in load_recipe(name).paper_tables}
    assert answered == set(paper_tables())


@pytest.mark.parametrize("name", RECIPES)
def test_settings_are_valid_at_every_scale(name):
    recipe = load_recipe(name)
    assert recipe.name == name and {"small", "paper"} <= set(recipe.scales)
    for scale in recipe.scales.values():
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
    own = text[text.index("\nscales:") :] if "\nscales:" in text else ""
    for scale in ("small", "paper", *(["medium"] if "\n  medium:" in own else [])):
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


def test_a_night_takes_the_whole_of_20_newsgroups(monkeypatch):
    monkeypatch.delenv("MASKER_DATA", raising=False)
    rows = {"vanilla", "vanilla-long", "residual", "masker"}
    plan = plan_recipe(load_recipe("ood-main"), "medium", fetch=False)
    stages = plan.graph.stages
    assert {run.system for run in plan.runs} == rows and {run.seed for run in plan.runs} == {0, 1, 2}
    for run in plan.runs:
        assert set(stages[run.goal].inputs["ood"]) == {"Amazon", "Reuters", "IMDB", "SST-2", "Fine Food"}
        data = stages[stages[run.goal].depends_on[0]].inputs["data"]
        assert (data["corpus"], data["documents"], data["class_ratio"]) == ("20newsgroups", None, None)
    across = plan_recipe(load_recipe("cross-domain"), "medium", fetch=False)
    assert {run.source for run in across.runs} == {"IMDB", "SST-2", "Grocery"}
    assert {run.system for run in across.runs} == rows
    assert across.scale.settings == {}, "not shortened: the recipe's own length"


@pytest.mark.parametrize(("backbone", "column"), [("granite-30m", "RoBERTa"), ("mpnet", "BERT")])
def test_the_main_table_can_be_run_with_other_encoders(monkeypatch, backbone, column):
    monkeypatch.delenv("MASKER_DATA", raising=False)
    options = RunOptions(backbones=[backbone], seeds=[0], only=["system=masker"])
    plan = plan_recipe(load_recipe("ood-main"), "small", options, fetch=False)
    assert {(run.backbone, run.model) for run in plan.runs} == {(column, backbone)}


def test_stand_ins_at_the_scale_of_the_paper(monkeypatch):
    monkeypatch.delenv("MASKER_DATA", raising=False)
    for replaced, corpus in ((False, "amazon50"), (True, "amazon24")):
        options = RunOptions(seeds=[0], only=["train=Amazon", "system=doc"], stand_ins=replaced)
        plan = plan_recipe(load_recipe("ood-main"), "paper", options, fetch=False)
        data = next(stage for stage in plan.graph.stages.values() if stage.kind == "train").inputs["data"]
        assert data["corpus"] == corpus and ("Movies_and_TV" in data["without_labels"]) == replaced


def test_the_search_trains_all_systems_for_as_many_steps():
    """Equal epochs, batches and rates, whatever the system, and no best checkpoint; one model for both readings."""
    recipe = load_recipe("regularizer")
    scale = recipe.scale("small")
    [(column, encoder)] = scale.backbones.items()
    schedules = set()
    for system in recipe.systems:
        settings = run_settings(recipe, scale, RunCoordinates("Amazon", system, column, encoder, 0))
        training = settings.training.model_dump(exclude={"method"})
        schedules.add(json.dumps([settings.epochs, training], sort_keys=True))
        assert settings.averaged_share > 0 and settings.model.head == (
            "multi-class" if system.startswith("multi-class") else "one-vs-rest"
        )
    assert len(schedules) == 1
    plan = plan_recipe(recipe, "small", RunOptions(seeds=[0], only=["train=Amazon", "system=paper"]), fetch=False)
    assert [run.system for run in plan.runs] == ["paper:max-prob", "paper:auto"]
    assert len({plan.graph.stages[run.goal].depends_on for run in plan.runs}) == 1


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
    """Run together, the recipes train vanilla, short and long, and MASKER once; the stronger settings are new."""
    monkeypatch.delenv("MASKER_DATA", raising=False)
    names = ("reliance", "ood-main", "cross-domain")
    plans = [plan_recipe(load_recipe(name), "small", fetch=False) for name in names]
    trained, *others = ({i for i, stage in plan.graph.stages.items() if stage.kind == "train"} for plan in plans)
    assert len(trained) == 30 and [len(trained & other) for other in others] == [9, 9]


def test_a_file_of_the_user_and_what_is_wrong_with_it(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("extends: nli\nname: mine\ntitle: Mine\n")
    assert load_recipe(str(path)).metrics == ["accuracy"]
    path.write_text(
        "extends: ood-main\nname: mine\nsystems:\n  masker: {title: m}\n  doc: {title: d}\ncomparisons: []\n"
    )
    scales = load_recipe(str(path)).scales
    assert scales["medium"].systems == ["masker"] and scales["medium"].sources == ["Newsgroup"], "what is left of them"
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
        ({"table": None, "halves": {"baseline": "vanilla", "choose": ["Telephone"], "confirm": ["Mars"]}}, "'Mars'"),
        (
            {"table": None, "halves": {"baseline": "vanilla", "choose": ["Telephone"], "confirm": ["Telephone"]}},
            "cannot be in both halves",
        ),
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
        (
            {"systems": {"masker": {"title": "m", "part": "extend"}}, "comparisons": []},
            "system 'masker': a part is for",
        ),
        ({"systems": {"masker": {"title": "m", "sources": ["Mars"]}}, "comparisons": []}, "names 'Mars', which is not"),
        ({"systems": {"vanilla": {"title": "v"}}, **OPEN_WORLD}, "there every system has one"),
        ({"systems": {"m": {"title": "m", "part": "review"}}, **OPEN_WORLD}, "'open-world' needs start 'defaults'"),
        (
            {**OPEN_WORLD, "analysis": {"kind": "open-world", "options": {"review": {"pool": 1}}}},
            r"options\.review\.pool",
        ),
        (
            {"scales": {"small": {**SMALL, "systems": ["masker", "nobody"]}}},
            "a scale names 'nobody', which is not",
        ),
        (
            {"comparisons": [{"system": "masker", "baseline": "vanilla", "metric": "reliance"}]},
            "'reliance' belongs to the analysis 'reliance'",
        ),
        (
            {"sources": TWO, "table": None, "halves": {"baseline": "nobody", "choose": ["S"], "confirm": ["T"]}},
            "the baseline of the halves, 'nobody', is not one of",
        ),
        ({"scales": {"small": {**SMALL, "stand_ins": ["mars"]}}}, "no stand-in for 'mars'; known: "),
    ],
)
def test_names_inside_a_recipe_are_checked(tmp_path, change, message):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({"extends": "nli", "name": "mine", **change}))
    with pytest.raises(ConfigError, match=message):
        load_recipe(str(path))


def test_a_recipe_that_extends_itself_or_lacks_the_scale(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(f"extends: {path}\n")
    with pytest.raises(ConfigError, match=r"extends itself \(.* -> .*\); remove one 'extends'"):
        load_recipe(str(path))
    with pytest.raises(ConfigError, match="recipe 'nli' has the scales paper, small; got 'huge'"):
        load_recipe("nli").scale("huge")


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


def test_open_world_trains_a_model_of_known_classes_once_for_all_parts(monkeypatch):
    monkeypatch.delenv("MASKER_DATA", raising=False)
    plan = plan_recipe(load_recipe("open-world"), "small", RunOptions(seeds=[2]), fetch=False)
    stages = plan.graph.stages
    kinds = [stage.kind for stage in stages.values()]
    assert {kind: kinds.count(kind) for kind in kinds} == {"train": 12 + 8, "discover": 12, "extend": 8, "review": 4}
    for run in plan.runs:
        known, *retrained = (stages[name] for name in stages[run.goal].depends_on)
        data = known.inputs["data"]
        assert data == stages[run.goal].inputs["train"] and data["class_seed"] == stages[run.goal].inputs["seed"] == 2
        assert "added" not in known.inputs and bool(retrained) == (run.system == "extend")
        if retrained:
            [both] = retrained
            assert both.inputs["data"] == data and both.inputs["added"] == stages[run.goal].inputs["labelled"]
            assert both.seconds > known.seconds


@pytest.mark.parametrize("systems", ["{a: 3}", "3", "{a: {settings: {}}}"])
def test_readings_of_systems_that_are_none(tmp_path, systems):
    (tmp_path / "r.yaml").write_text(f"readings: [energy]\nsystems: {systems}\n")
    with pytest.raises(ConfigError, match="systems"):
        load_recipe(tmp_path / "r.yaml")
