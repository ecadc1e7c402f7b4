"""``masker reproduce`` from start to end on made-up corpora with a tiny encoder."""

from __future__ import annotations

import gzip
import json
import os
import signal
import time

import pytest
import torch

from masker import provenance as provenance_module
from masker.commands.train import train
from masker.config import build_settings
from masker.errors import ConfigError, DataError
from masker.experiments import run_stage as stage_module
from masker.experiments.data_selection import read_selections
from masker.experiments.engines import Execution
from masker.experiments.plan import RunOptions, plan_recipe
from masker.experiments.recipe import load_recipe
from masker.experiments.reproduce import reproduce
from masker.experiments.run_settings import RunCoordinates, run_settings
from masker.experiments.stage_archive import pack_stages, unpack_stages
from masker.inference import torch_backend
from masker.report.reproduction import write_report
from masker.training import run as training_run
from tests.cli.command_line import one_line, run, start
from tests.experiments.conftest import write_recipe

KEEP = Execution(keep_models=True)
VOLATILE = ("took", "seconds", "resumed", "provenance", "created")


def results(folder):
    """Every results.json below a folder without what differs between two runs: times, and where it came from."""

    def lasting(value):
        if isinstance(value, dict):
            return {key: lasting(inner) for key, inner in value.items() if key not in VOLATILE}
        return [lasting(inner) for inner in value] if isinstance(value, list) else value

    found = {path.parent.name: lasting(json.loads(path.read_text())) for path in folder.glob("*/results.json")}
    assert found
    return found


@pytest.fixture(scope="module")
def done(data_folder, tiny_backbones, tmp_path_factory):
    """A finished run of one seed."""
    folder = tmp_path_factory.mktemp("done")
    recipe, output = write_recipe(folder, tiny_backbones["bert"]), folder / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MASKER_DATA", str(data_folder))
        finished = run("reproduce", recipe, "--output", str(output), "--seeds", "0")
    assert finished.returncode == 0, finished.stderr
    return recipe, output, finished


def test_it_runs_says_so_and_does_nothing_twice(done, corpora):
    recipe, output, finished = done
    assert "[1/7] train vanilla · Newsgroup · bert · seed 0 (about" in finished.stderr
    assert "(98.6)" in finished.stdout, "the paper's figure stands beside ours"
    assert (output / "tiny" / "table.md").read_text() in finished.stdout
    summary = json.loads((output / "tiny" / "summary.json").read_text())
    assert {cell["system"] for cell in summary["cells"]} == {"vanilla", "masker", "mkr"}
    assert not list(output.glob("stages/*/model")), "models are gone"
    assert not list(output.glob("stages/*.partial"))

    before = {path: path.stat().st_mtime_ns for path in output.glob("stages/*/result.json")}
    assert len(before) == 7
    again = run("reproduce", recipe, "--output", str(output), "--seeds", "0")
    assert again.stdout == finished.stdout
    assert "7 of 7 stages are already finished" in again.stderr and "train" not in again.stderr
    assert {path: path.stat().st_mtime_ns for path in output.glob("stages/*/result.json")} == before

    dry = run("reproduce", recipe, "--output", str(output), "--seeds", "0..1", "--dry-run")
    assert "14 stages, 7 of them finished" in dry.stdout
    assert "To run: 3 train, 3 evaluate, 1 keywords; about" in dry.stdout


def test_an_archive_carries_finished_stages_to_another_folder(done, corpora, tmp_path):
    """The keyword stage stays behind, and nothing that is finished needs it."""
    recipe, output, finished = done
    archive = tmp_path / "stages.jsonl.gz"
    options = ("--seeds", "0", "--stages", str(archive))
    assert run("reproduce", recipe, "--output", str(output), "--finished", *options).stdout == finished.stdout
    assert pack_stages(output, archive) == 6
    written = archive.read_bytes()
    dry = run("reproduce", recipe, "--output", str(tmp_path / "there"), "--dry-run", *options)
    assert "7 stages, 7 of them finished" in dry.stdout and "To run: nothing" in dry.stdout
    assert not (tmp_path / "there").exists()
    there = run("reproduce", recipe, "--output", str(tmp_path / "there"), *options)
    assert (tmp_path / "there" / "tiny" / "table.md").read_text() in there.stdout
    assert results(tmp_path / "there" / "tiny") == results(output / "tiny")
    assert "train" not in there.stderr
    assert archive.read_bytes() == written


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"not compressed", "is no archive of stages"),
        (gzip.compress(b"{}\n"), "line 1, is not the record of a stage"),
        (gzip.compress(b'{"id": "../../../escaped/of/it"}\n'), "line 1, is not the record of a stage"),
        (gzip.compress(b"x" * 1000)[:40], "is no archive of stages"),
    ],
    ids=["plain", "no id", "outside", "cut off"],
)
def test_a_strange_archive_is_refused(content, says, tmp_path):
    archive = tmp_path / "stages.jsonl.gz"
    archive.write_bytes(content)
    with pytest.raises(DataError, match=says):
        unpack_stages(archive, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_results_name_everything_but_the_text(done, data_folder):
    _, output, _ = done
    content = json.loads((output / "tiny" / "newsgroup.bert.masker.seed0" / "results.json").read_text())
    assert (content["recipe"], content["scale"], content["system"], content["seed"]) == ("tiny", "small", "masker", 0)
    assert content["settings"]["training"]["epochs"] == 4
    assert content["trained"]["documents"] == 64 and content["trained"]["keywords"] == 8
    assert 0 <= content["result"]["figures"]["SST-2"]["auroc"]["low"] <= 1
    assert 0 <= content["result"]["figures"]["known classes"]["false_alarms"]["value"] <= 1
    assert content["result"]["documents"] == {"known classes": 32, "SST-2": 24}
    assert [stage["kind"] for stage in content["stages"]] == ["train", "keywords", "train", "evaluate"]
    assert all(stage["version"] and "commit" in stage for stage in content["stages"])
    assert [origin["stages"] for origin in content["origins"]] == [{"train": 2, "keywords": 1, "evaluate": 1}]
    origin = content["provenance"]
    assert origin["versions"]["torch"] and origin["machine"] and origin["created"] and "commit" in origin
    assert content["tested"]["ood"]["SST-2"][0]["corpus"] == "foreign"
    everything = "".join(path.read_text() for path in output.rglob("*.json"))
    lines = gzip.decompress((data_folder / "topics.test.jsonl.gz").read_bytes()).decode().splitlines()
    assert len(lines) == 32
    for line in lines:
        assert json.loads(line)["text"] not in everything


def test_shared_stages_give_what_a_run_alone_gives(corpora, tiny_recipe, tmp_path):
    path = tiny_recipe()
    [outcome] = reproduce([path], tmp_path / "out", RunOptions(seeds=[0], only=["system=masker"]), KEEP)
    graph = outcome.plan.graph
    [evaluation] = graph.goals
    shared = tmp_path / "out" / "stages" / graph.stages[evaluation].depends_on[0] / "model"
    recipe = load_recipe(path)
    scale = recipe.scale("small")
    settings = run_settings(recipe, scale, RunCoordinates("Newsgroup", "masker", "BERT", scale.backbones["BERT"], 0))
    alone = train("topics:train", tmp_path / "alone", settings)
    assert (shared / "model.safetensors").read_bytes() == (alone.folder / "model.safetensors").read_bytes()
    one, other = (json.loads((folder / "masker.json").read_text()) for folder in (shared, alone.folder))
    assert one["keywords"] == other["keywords"] and one["threshold"] == other["threshold"]


def test_killed_in_the_middle_it_resumes_to_the_same_results(done, corpora, tmp_path):
    recipe, output, _ = done
    cut = tmp_path / "cut"
    command = ["reproduce", recipe, "--output", str(cut), "--seeds", "0"]
    process = start(*command, env=dict(os.environ))
    deadline = time.monotonic() + 120
    while not list(cut.glob("stages/*.partial/work/*/checkpoint-*/trainer_state.json")) and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert list(cut.glob("stages/*.partial")) and not (cut / "tiny").exists()
    finished = run(*command)
    assert finished.returncode == 0, finished.stderr
    assert results(cut / "tiny") == results(output / "tiny")
    summaries = [json.loads((folder / "tiny" / "summary.json").read_text()) for folder in (cut, output)]
    assert summaries[0]["cells"] == summaries[1]["cells"]
    resumed = [json.loads(path.read_text()) for path in cut.glob("stages/*/result.json")]
    assert any(content["resumed"] for content in resumed)


def test_recipes_named_together_share_their_stages(corpora, tiny_recipe, tmp_path):
    one = tiny_recipe("one", comparisons=[])
    other = tiny_recipe("other", metrics=["accuracy"], paper_tables=["ood_acc"])
    options = ("--seeds", "0", "--only", "system=vanilla", "--output", str(tmp_path / "out"))
    both = run("reproduce", one, other, *options)
    assert both.returncode == 0, both.stderr
    assert "[2/2] evaluate" in both.stderr, "the second recipe asks for other figures of the same evaluation"
    assert {path.parent.name for path in (tmp_path / "out").glob("*/summary.json")} == {"one", "other"}
    cells = json.loads((tmp_path / "out" / "other" / "summary.json").read_text())["cells"]
    assert [(cell["test"], cell["paper"]["mean"]) for cell in cells] == [("known classes", 90.4)]


def test_pairs_genres_and_regression(corpora, tiny_recipe, tmp_path):
    path = tiny_recipe(
        "scores",
        paper_tables=["gen_stsb"],
        preset="cross-domain",
        settings={
            "model": {"max_length": 32, "head": "regression"},
            "training": {"batch_size": 8, "learning_rate": 0.002, "precision": "fp32", "epochs": 1},
        },
        sources={"MSRvid": {
            "train": {"corpus": "pairs", "split": "train", "genre": ["calm"]},
            "tests": {"MSRvid": {"corpus": "pairs", "split": ["dev", "test"], "genre": ["calm"]},
                      "Images": {"corpus": "pairs", "split": ["train", "dev", "test"], "genre": ["loud"]}},
        }},
        systems={"vanilla": {"title": "vanilla", "settings": {"training": {"method": "vanilla"}}},
                 "masker": {"title": "MKR", "settings": {"loss": {"lambda_mer": 0.0}}}},
        metrics=["pearson"],
        comparisons=[{"system": "masker", "baseline": "vanilla", "metric": "pearson"}],
        scale={"seeds": [0]},
    )  # fmt: skip
    [outcome] = reproduce([path], tmp_path / "out")
    cells = {(cell["system"], cell["test"]): cell for cell in outcome.summary["cells"]}
    assert cells["masker", "Images"]["paper"]["mean"] == 84.3
    assert all(-100 <= cell["mean"] <= 100 and cell["deviation"] is None for cell in cells.values())
    assert outcome.results["msrvid.bert.masker.seed0"]["result"]["documents"] == {"MSRvid": 12, "Images": 32}
    assert outcome.results["msrvid.bert.masker.seed0"]["trained"]["keywords"] == 10


def test_the_settings_of_every_run_can_be_changed(corpora, tiny_recipe, tmp_path):
    overrides = ["model.max_length=16", "training.epochs=1"]
    options = RunOptions(seeds=[0], only=["system=vanilla"], overrides=overrides)
    [outcome] = reproduce([tiny_recipe()], tmp_path / "out", options)
    settings = next(iter(outcome.results.values()))["settings"]
    assert (settings["model"]["max_length"], settings["training"]["epochs"]) == (16, 1)


def test_one_model_evaluated_with_two_scores(corpora, tiny_recipe, tmp_path):
    vanilla = {"title": "vanilla", "settings": {"training": {"method": "vanilla", "epochs": 1}}}
    systems = {"vanilla": vanilla, "entropy": {**vanilla, "title": "its entropy", "score": "entropy"}}
    recipe = tiny_recipe(systems=systems, comparisons=[])
    plan = plan_recipe(load_recipe(recipe), "small", RunOptions(seeds=[0]))
    assert sorted(stage.kind for stage in plan.graph.stages.values()) == ["evaluate", "evaluate", "train"]
    [outcome] = reproduce([recipe], tmp_path / "out", RunOptions(seeds=[0]))
    plain, other = (content["result"]["figures"] for content in outcome.results.values())
    assert plain["known classes"]["accuracy"] == other["known classes"]["accuracy"]
    assert plain["SST-2"]["aupr"] != other["SST-2"]["aupr"]


def test_list_dry_run_and_bad_input(corpora, tiny_recipe, tmp_path):
    listed = run("reproduce", "--list")
    assert "ood-main" in listed.stdout and "fig:tsne" in listed.stdout
    recipe, output = tiny_recipe(), str(tmp_path / "out")
    dry = run("reproduce", recipe, "--dry-run", "--output", output)
    assert dry.returncode == 0 and "train masker · Newsgroup · bert · seed 1" in dry.stdout
    assert not (tmp_path / "out").exists()
    absent = run("reproduce", "stsb", "--dry-run", "--output", output)
    assert "Data that stsb lacks: stsb." in absent.stdout
    assert "Did you mean 'ood-main'" in one_line(run("reproduce", "ood-mein"))
    assert "engine must be one of local" in one_line(run("reproduce", recipe, "--engine", "abacus", "--output", output))
    assert not (tmp_path / "out").exists()
    assert "name a recipe" in run("reproduce").stderr
    for seeds in ("3..1", "a", "1,", "-1"):
        refused = run("reproduce", recipe, "--seeds", seeds)
        assert refused.returncode == 2 and "is not a list of seeds" in refused.stderr


def test_two_processes_do_not_work_in_one_folder(corpora, tiny_recipe, tmp_path):
    from filelock import FileLock

    (tmp_path / "out").mkdir()
    with FileLock(tmp_path / "out" / ".lock"):
        refused = run("reproduce", tiny_recipe(), "--output", str(tmp_path / "out"))
    assert "another process works in" in one_line(refused)


def test_results_name_the_commit_of_their_stages(corpora, tiny_recipe, tmp_path, monkeypatch):
    """Vanilla runs with commit a and is removed; MASKER runs with b, which trains vanilla again for its keywords.

    Vanilla's figures still come from the model of commit a. Commit c runs nothing, so it changes nothing.
    """
    recipe, output = tiny_recipe(comparisons=[]), tmp_path / "out"

    def run_with(commit, *systems):
        for module in (stage_module, provenance_module):
            monkeypatch.setattr(module, "source_commit", lambda: commit * 40)
        options = RunOptions(seeds=[0], only=[f"system={name}" for name in systems], overrides=["training.epochs=1"])
        [outcome] = reproduce([recipe], output, options)
        return outcome, write_report(outcome)

    _, alone = run_with("a", "vanilla")
    assert "same code" not in alone
    outcome, both = run_with("b", "vanilla", "masker")
    commits = {
        result["system"]: [(stage["kind"], stage["commit"][0], stage["version"]) for stage in result["stages"]]
        for result in outcome.results.values()
    }
    version = outcome.summary["provenance"]["versions"]["masker"]
    assert commits == {
        "vanilla": [(kind, "a", version) for kind in ("train", "evaluate")],
        "masker": [(kind, "b", version) for kind in ("train", "keywords", "train", "evaluate")],
    }
    origins = [(origin["commit"], origin["stages"]) for origin in outcome.summary["origins"]]
    assert origins == [
        ("a" * 40, {"train": 1, "evaluate": 1}),
        ("b" * 40, {"train": 2, "keywords": 1, "evaluate": 1}),
    ]
    assert "commit aaaaaaaaaaaa (1 train, 1 evaluate); commit bbbbbbbbbbbb (2 train, 1 keywords, 1 evaluate)" in both
    before = {path: path.read_bytes() for path in (output / "tiny").rglob("*") if path.is_file()}
    run_with("c", "vanilla", "masker")
    assert {path: path.read_bytes() for path in before} == before


def test_every_stage_runs_on_the_device_asked_for(corpora, tiny_recipe, tmp_path, monkeypatch):
    """Training, keywords and evaluation each resolve it; a device that is not there is refused before any work."""
    asked = []

    def resolve(name="auto"):
        asked.append(name)
        return torch.device("cpu")

    for module in (stage_module, torch_backend, training_run):
        monkeypatch.setattr(module, "resolve_device", resolve)
    options = RunOptions(seeds=[0], only=["system=masker"], overrides=["training.epochs=1"])
    reproduce([tiny_recipe()], tmp_path / "out", options, Execution(device="cpu"))
    assert set(asked) == {"cpu"} and len(asked) >= 4
    with pytest.raises(ConfigError, match="device must be auto, cpu"):
        reproduce([tiny_recipe()], tmp_path / "other", options, Execution(device="gpu"))
    assert not (tmp_path / "other").exists()


def test_a_system_that_starts_from_the_defaults_is_trained_as_a_user_would(corpora, tiny_recipe, tmp_path):
    """Few texts of each class, in one stage: the same weights, keywords and threshold as ``masker train`` gives."""
    settings = {"model": {"max_length": 24}, "training": {"batch_size": 8, "epochs": 2, "precision": "fp32"}}
    path = tiny_recipe(
        settings=settings,
        split_by_seed=True,
        sources={"Topics": {
            "train": {"corpus": "topics", "split": "train", "class_ratio": 0.5, "per_class": 12},
            "tests": {"known classes": {"corpus": "topics", "split": "test", "classes": "trained"}},
            "ood": {"unseen classes": {"corpus": "topics", "split": "test", "class_ratio": 0.5, "classes": "unseen"}},
            "in_paper": False,
        }},
        systems={"default": {"title": "default", "start": "defaults"},
                 "linear": {"title": "linear", "start": "defaults", "settings": {"training": {"method": "linear"}}}},
        metrics=["open_accuracy", "open_f1", "f1_known", "f1_unknown", "accuracy", "false_alarms"],
        comparisons=[{"system": "default", "baseline": "linear", "metric": "open_f1"}],
    )  # fmt: skip
    [outcome] = reproduce([path], tmp_path / "out", RunOptions(seeds=[1]), KEEP)
    result = outcome.results["topics.bert.default.seed1"]
    assert [stage["kind"] for stage in result["stages"]] == ["train", "evaluate"]
    assert result["trained"]["documents"] == 24 and len(result["trained"]["classes"]) == 2
    figures = result["result"]["figures"]["unseen classes"]
    known, alarms = (
        result["result"]["figures"]["known classes"][name]["value"] for name in ("accuracy", "false_alarms")
    )
    assert result["result"]["documents"] == {"known classes": 16, "unseen classes": 16}
    found, right = figures["rejected"]["value"], figures["open_accuracy"]["value"]
    assert found / 2 + (known - alarms) / 2 <= right <= found / 2 + min(known, 1 - alarms) / 2
    assert 0 <= figures["open_f1"]["low"] <= figures["open_f1"]["value"] <= figures["open_f1"]["high"] <= 1
    tested = {(cell["metric"], cell["test"]) for cell in outcome.summary["cells"]}
    assert ("open_f1", "unseen classes") in tested and ("open_f1", "known classes") not in tested
    assert "open macro F1" in write_report(outcome)

    stages = outcome.plan.graph.stages
    train_stage = stages[next(run for run in outcome.plan.runs if run.system == "default").goal].depends_on[0]
    shared = tmp_path / "out" / "stages" / train_stage / "model"
    documents = read_selections([stages[train_stage].inputs["data"]])
    own = tmp_path / "own.jsonl"
    rows = ({"text": text, "label": label} for text, label in zip(documents.texts, documents.labels, strict=True))
    own.write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = build_settings(settings, {"model": {"backbone": outcome.plan.runs[0].model}, "training": {"seed": 1}})
    alone = train(str(own), tmp_path / "alone", asked)
    assert (shared / "model.safetensors").read_bytes() == (alone.folder / "model.safetensors").read_bytes()
    one, other = (json.loads((folder / "masker.json").read_text()) for folder in (shared, alone.folder))
    for key in ("keywords", "threshold", "settings"):
        assert one[key] == other[key]
