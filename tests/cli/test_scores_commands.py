"""Score, rejection and calibration as a user types them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from safetensors.numpy import load_file

from masker.registry import SCORES
from tests.cli.test_commands import one_line, run, training_options, write_jsonl
from tests.conftest import make_corpus


@pytest.fixture(scope="module")
def place(tmp_path_factory, tiny_backbones):
    """Data files and a model with the default score."""
    folder = tmp_path_factory.mktemp("scores")
    for name, count, seed in (("train", 240, 0), ("test", 60, 1), ("new", 90, 2)):
        write_jsonl(folder / f"{name}.jsonl", *make_corpus(count, seed=seed))
    write_jsonl(folder / "unlabelled.jsonl", make_corpus(60, seed=3)[0])
    write_jsonl(folder / "ood.jsonl", [f"zzz {'qqq ' * (n % 5)}{n}" for n in range(30)])
    options = [*training_options(tiny_backbones["bert"]), "--method", "vanilla", "--epochs", "8"]
    options += ["--set", "data.validation_fraction=0.4", "--ood-examples", str(folder / "ood.jsonl")]
    done = run("train", str(folder / "train.jsonl"), "--output", str(folder / "model"), *options)
    assert done.returncode == 0, done.stderr
    (folder / "train.out").write_text(done.stdout)
    return folder


@pytest.fixture
def model(place, tmp_path):
    return str(shutil.copytree(place / "model", tmp_path / "model"))


def predictions(*args: str) -> list[dict]:
    done = run("predict", *args)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_training_tells_the_score_the_promise_and_the_trade_off(place):
    out = (place / "train.out").read_text()
    assert "score auto (" in out and "by 48 held-out documents" in out
    assert "chosen" in out and "detected" in out


def test_reject_and_another_score(place):
    model, data = str(place / "model"), str(place / "ood.jsonl")
    plain, rejected = predictions(model, data), predictions(model, data, "--reject")
    assert [row["label"] is None for row in rejected] == [row["is_ood"] for row in plain]
    assert all(row["label"] is not None for row in plain)
    energy = predictions(model, data, "--score", "energy", "--false-alarm-rate", "0.5")
    assert [row["ood_score"] for row in energy] != [row["ood_score"] for row in plain]
    assert all(row["is_ood"] == (row["p_value"] <= 0.5) for row in energy)


def test_evaluate_json(place):
    args = [str(place / "model"), str(place / "test.jsonl"), "--ood", str(place / "ood.jsonl"), "--resamples", "20"]
    report = json.loads(run("evaluate", *args, "--json").stdout)
    assert report["score"] == "auto"
    assert set(report["false_alarms"]) == {"asked", "promised", "held_out", "separate", "realised"}
    assert set(report["false_alarms"]["realised"]) == {"value", "low", "high"}
    assert (
        set(report["selective"]["confidence"]) == {"aurc", "curve"}
        and len(report["selective"]["confidence"]["curve"]) == 60
    )
    assert set(report["confidence"]) == {"temperature", "ece_before", "ece_after"}
    paper = json.loads(run("evaluate", *args, "--json", "--score", "max-prob").stdout)
    assert paper["score"] == "max-prob"
    table = run("evaluate", *args).stdout
    assert "AURC by confidence" in table and "rejected as OOD (promised" in table


def test_calibrate_changes_the_model(place, model):
    done = run("calibrate", model, str(place / "new.jsonl"), "--false-alarm-rate", "0.1", "--json")
    report = json.loads(done.stdout)
    assert (report["held_out"], report["false_alarm_rate"], report["score"]) == (90, 0.1, "auto")
    assert all(row["is_ood"] == (row["p_value"] <= 0.1) for row in predictions(model, str(place / "ood.jsonl")))


def test_calibrate_into_a_copy_without_labels_by_class(place, model, tmp_path):
    before = (place / "model" / "masker.json").read_text()
    copy = str(tmp_path / "copy")
    done = run("calibrate", str(place / "model"), str(place / "unlabelled.jsonl"), "--class-conditional", "--output",
               copy, "--false-alarm-rate", "0.2", "--score", "mahalanobis")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "score mahalanobis" in done.stdout and f"model: {copy}" in done.stdout
    assert (place / "model" / "masker.json").read_text() == before
    assert json.loads((tmp_path / "copy" / "masker.json").read_text())["settings"]["detection"]["class_conditional"]
    assert "the threshold of its predicted class" in done.stdout
    assert "already exists" in one_line(run("calibrate", model, str(place / "new.jsonl"), "--output", copy))


def test_calibrate_with_examples_and_statistics(place, model):
    done = run("calibrate", model, str(place / "new.jsonl"), "--score", "knn-mean", "--statistics",
               str(place / "train.jsonl"), "--ood-examples", str(place / "ood.jsonl"))  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "score knn-mean" in done.stdout and "chosen" in done.stdout


def test_statistics_take_all_rows_whatever_is_chosen_of_the_data(place, model):
    done = run("calibrate", model, str(place / "new.jsonl"), "--limit", "40", "--score", "knn-mean", "--statistics",
               str(place / "train.jsonl"), "--json")  # fmt: skip
    report = json.loads(done.stdout)
    assert report["held_out"] == 40 and report["labelled"]
    manifest = json.loads((Path(model) / "masker.json").read_text())
    stored = load_file(Path(model) / manifest["tensors"])
    assert any(len(values) == 240 for values in stored.values()), "a bank of all training documents"


def test_labels_of_some_rows_only(place, model, tmp_path):
    texts, labels = make_corpus(60, seed=4)
    half = write_jsonl(tmp_path / "half.jsonl", texts, [label if n % 2 else None for n, label in enumerate(labels)])
    assert "30 rows have no label" in one_line(run("calibrate", model, str(half)))
    report = json.loads(run("calibrate", model, str(half), "--skip-invalid", "--json").stdout)
    assert report["labelled"] and report["held_out"] == 30
    assert "'lable'" in one_line(run("calibrate", model, str(place / "new.jsonl"), "--label-column", "lable"))
    assert "unchanged because" in run("calibrate", model, str(place / "unlabelled.jsonl")).stdout


def test_a_rate_in_the_settings_limits_the_operating_point(place, tiny_backbones, tmp_path):
    options = [*training_options(tiny_backbones["bert"]), "--method", "vanilla", "--epochs", "1"]
    options += ["--set", "data.validation_fraction=0.4", "--ood-examples", str(place / "ood.jsonl")]
    options += ["--set", "detection.false_alarm_rate=0.04"]
    done = run("train", str(place / "train.jsonl"), "--output", str(tmp_path / "m"), *options)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "m" / "masker.json").read_text())["detection"]["false_alarm_rate"] <= 0.04


def test_options_that_would_do_nothing_are_refused(place, model, tmp_path):
    train, new, out = str(place / "train.jsonl"), str(place / "new.jsonl"), str(tmp_path / "m")
    pairs = write_jsonl(tmp_path / "pairs.jsonl", ["a"], None, ["b"])
    scores = write_jsonl(tmp_path / "scores.jsonl", ["a", "b", "c"], [0.1, 0.2, 0.3])
    for words, message in (
        (["evaluate", model, new, "--ood-where", "a=b"], "give them with --ood"),
        (["export", model, "--limit", "3"], "--check FILE"),
        (["train", str(scores), "--output", out, "--head", "regression", "--score", "energy"], "no classes to be out"),
        (["train", str(scores), "--output", out, "--head", "regression", "--ood-examples", new], "--ood-examples"),
        (["train", train, "--output", out, "--ood-examples", str(pairs)], "must hold texts"),
    ):
        line = one_line(run(*words))
        assert message in line, words
    assert "--statistics" not in line
    assert not (tmp_path / "m.partial").exists()


def test_refusals_are_one_line_and_change_nothing(place, model, tmp_path):
    before = (Path(model) / "masker.json").read_text()
    new = str(place / "new.jsonl")
    assert "Did you mean 'energy'" in one_line(run("predict", model, new, "--score", "enrgy"))
    assert "'energy'" in one_line(run("calibrate", model, new, "--score", "enrgy"))
    assert "--statistics" in one_line(run("calibrate", model, new, "--score", "knn-middle"))
    foreign = write_jsonl(tmp_path / "foreign.jsonl", ["a"], ["eggs"])
    assert "'eggs' is none of the model's classes" in one_line(run("calibrate", model, str(foreign)))
    missing = one_line(run("train", new, "--output", str(tmp_path / "m"), "--ood-examples", str(tmp_path / "no.jsonl")))
    assert "no.jsonl" in missing and not (tmp_path / "m.partial").exists()
    bad = one_line(run("train", new, "--output", str(tmp_path / "m"), "--score", "best"))
    assert "detection.score" in bad
    assert (Path(model) / "masker.json").read_text() == before


def test_shards_carry_p_values_and_reject(place, tmp_path):
    (tmp_path / "in").mkdir()
    shutil.copy(place / "ood.jsonl", tmp_path / "in" / "a.jsonl")
    args = [str(place / "model"), str(tmp_path / "in"), "--engine", "local", "--output", str(tmp_path / "out")]

    def rows(*options: str) -> list[dict]:
        done = run("predict", *args, *options)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in (tmp_path / "out" / "a.jsonl").read_text().splitlines()]

    plain = rows()
    assert plain == predictions(str(place / "model"), str(place / "ood.jsonl"))
    rejected = rows("--reject")
    assert [row["label"] is None for row in rejected] == [row["is_ood"] for row in plain]
    assert rows("--score", "energy")[0]["ood_score"] != plain[0]["ood_score"], "made again for another score"


def test_help_names_every_kind_of_score():
    text = " ".join(run("train", "--help").stdout.split())
    for option in ("--score", "--false-alarm-rate", "--class-conditional", "--ood-examples"):
        assert option in text
    named = ("auto", "max-prob", "energy", "mahalanobis", "knn")
    assert all(name in text for name in named) and set(named) <= {"auto", *SCORES}
