"""``masker calibrate`` as typed."""

from __future__ import annotations

import json
from pathlib import Path

from safetensors.numpy import load_file

from tests.cli.command_line import one_line, predictions, run, training_options, write_jsonl
from tests.conftest import make_corpus


def test_it_changes_the_model(score_place, score_model):
    done = run("calibrate", score_model, str(score_place / "new.jsonl"), "--false-alarm-rate", "0.1", "--json")
    report = json.loads(done.stdout)
    assert (report["held_out"], report["false_alarm_rate"], report["score"]) == (90, 0.1, "auto")
    rows = predictions(score_model, str(score_place / "ood.jsonl"))
    assert all(row["is_ood"] == (row["p_value"] <= 0.1) for row in rows)


def test_confidence(score_place, score_model):
    """Of 90 the rank for 0.1 with 0.95 is 86, as P(Bin(90, 0.1) >= 5) = 0.953 and P(... >= 6) = 0.897."""
    new = str(score_place / "new.jsonl")
    done = run("calibrate", score_model, new, "--false-alarm-rate", "0.1", "--confidence", "0.95")
    assert "rejects at most 10 % of in-distribution texts with 95 % confidence (90 held-out texts)" in done.stdout
    assert json.loads((Path(score_model) / "masker.json").read_text())["detection"]["confidence"] == 0.95
    rows = predictions(score_model, str(score_place / "ood.jsonl"))
    assert all(row["is_ood"] == (row["p_value"] <= 5 / 91 + 1e-12) for row in rows)
    alarms = json.loads(run("evaluate", score_model, new, "--resamples", "5", "--json").stdout)["false_alarms"]
    assert (alarms["confidence"], alarms["promised"], alarms["realised"]["value"]) == (0.95, 0.1, 4 / 90)
    once = predictions(score_model, new, "--confidence", "0")
    assert sum(row["is_ood"] for row in once) == 8, "on average: rank ceil(91 * 0.9) = 82"
    line = one_line(run("calibrate", score_model, new, "--confidence", "95"))
    assert "detection.confidence: must be at least 0.5 and below 1" in line and "got 95" in line
    assert "--confidence" not in run("keywords", "--help").stdout


def test_into_a_copy_without_labels_by_class(score_place, score_model, tmp_path):
    before = (score_place / "model" / "masker.json").read_text()
    copy = str(tmp_path / "copy")
    done = run("calibrate", str(score_place / "model"), str(score_place / "unlabelled.jsonl"), "--class-conditional",
               "--output", copy, "--false-alarm-rate", "0.2", "--score", "mahalanobis")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "score mahalanobis" in done.stdout and f"model: {copy}" in done.stdout
    assert (score_place / "model" / "masker.json").read_text() == before
    assert json.loads((tmp_path / "copy" / "masker.json").read_text())["settings"]["detection"]["class_conditional"]
    assert "the threshold of its predicted class" in done.stdout
    assert "already exists" in one_line(run("calibrate", score_model, str(score_place / "new.jsonl"), "--output", copy))


def test_examples_and_statistics(score_place, score_model):
    done = run("calibrate", score_model, str(score_place / "new.jsonl"), "--score", "knn-middle", "--statistics",
               str(score_place / "train.jsonl"), "--ood-examples", str(score_place / "ood.jsonl"))  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "score knn-middle" in done.stdout and "chosen" in done.stdout


def test_statistics_take_all_rows_whatever_is_chosen_of_the_data(score_place, score_model):
    done = run("calibrate", score_model, str(score_place / "new.jsonl"), "--limit", "40", "--score", "knn-middle",
               "--statistics", str(score_place / "train.jsonl"), "--json")  # fmt: skip
    report = json.loads(done.stdout)
    assert report["held_out"] == 40 and report["labelled"]
    manifest = json.loads((Path(score_model) / "masker.json").read_text())
    stored = load_file(Path(score_model) / manifest["tensors"])
    assert any(len(values) == 240 for values in stored.values()), "a bank of all training documents"


def test_labels_of_some_rows_only(score_place, score_model, tmp_path):
    texts, labels = make_corpus(60, seed=4)
    half = write_jsonl(tmp_path / "half.jsonl", texts, [label if n % 2 else None for n, label in enumerate(labels)])
    assert "30 rows have no label" in one_line(run("calibrate", score_model, str(half)))
    report = json.loads(run("calibrate", score_model, str(half), "--skip-invalid", "--json").stdout)
    assert report["labelled"] and report["held_out"] == 30
    new = str(score_place / "new.jsonl")
    assert "'lable'" in one_line(run("calibrate", score_model, new, "--label-column", "lable"))
    assert "unchanged because" in run("calibrate", score_model, str(score_place / "unlabelled.jsonl")).stdout


def test_refusals_are_one_line_and_change_nothing(score_place, score_model, tmp_path):
    before = (Path(score_model) / "masker.json").read_text()
    new = str(score_place / "new.jsonl")
    assert "'energy'" in one_line(run("calibrate", score_model, new, "--score", "enrgy"))
    foreign = write_jsonl(tmp_path / "foreign.jsonl", ["a"], ["eggs"])
    line = one_line(run("calibrate", score_model, str(foreign)))
    assert "'eggs' is not one of the model's classes" in line
    assert (Path(score_model) / "masker.json").read_text() == before


def test_a_score_without_statistics_says_where_to_get_them(score_place, tiny_backbones, tmp_path):
    options = [*training_options(tiny_backbones["bert"]), "--method", "vanilla", "--epochs", "1", "--score", "energy"]
    done = run("train", str(score_place / "train.jsonl"), "--output", str(tmp_path / "plain"), *options)
    assert done.returncode == 0, done.stderr
    before = (tmp_path / "plain" / "masker.json").read_text()
    refused = run("calibrate", str(tmp_path / "plain"), str(score_place / "new.jsonl"), "--score", "knn-middle")
    assert "--statistics" in one_line(refused)
    assert (tmp_path / "plain" / "masker.json").read_text() == before
