"""A model folder with a new promise: which texts set it, and which folder is changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from masker import ConfigError, Model
from masker.commands import calibrate as module
from masker.commands.calibrate import CalibrationChanges, calibrate
from masker.config import DataSettings
from tests.cli.command_line import write_jsonl
from tests.conftest import make_corpus

FIXTURE = Path(__file__).parents[1] / "fixtures" / "masker-bert"
TEXTS, LABELS = make_corpus(60, seed=5)


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(FIXTURE, tmp_path / "model")


@pytest.fixture
def data(tmp_path):
    return str(write_jsonl(tmp_path / "new.jsonl", TEXTS, LABELS))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_folder_is_changed(folder, data):
    report = calibrate(str(folder), data, DataSettings(), CalibrationChanges(false_alarm_rate=0.2), device="cpu")
    assert (report["model"], report["documents"], report["labelled"]) == (str(folder), 60, True)
    model = Model.open(folder, device="cpu")
    scores = np.sort(model.judge(TEXTS).scores)
    # By hand: of 60 held-out scores the ceil(61 * 0.8) = 49th is the threshold.
    assert report["threshold"] == pytest.approx(scores[48])
    assert np.mean([row.is_ood for row in model.predict(TEXTS)]) <= 0.2
    assert report["trade_off"] is None


def test_or_a_copy_of_it(folder, data, tmp_path):
    before = contents(folder)
    changes = CalibrationChanges(score="energy", class_conditional=True)
    report = calibrate(str(folder), data, DataSettings(), changes, output=tmp_path / "copy", device="cpu")
    assert contents(folder) == before
    assert (report["model"], report["score"]) == (str(tmp_path / "copy"), "energy")
    stored = json.loads((tmp_path / "copy" / "masker.json").read_text())["settings"]["detection"]
    assert (stored["score"], stored["class_conditional"]) == ("energy", True)
    with pytest.raises(ConfigError, match="already exists"):
        calibrate(str(folder), data, DataSettings(), changes, output=tmp_path / "copy")


def test_an_output_that_exists_is_refused_before_anything_is_opened(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(module.Model, "open", lambda *args: pytest.fail("opened"))
    with pytest.raises(ConfigError, match="already exists"):
        calibrate(str(folder), "nowhere.csv", DataSettings(), CalibrationChanges(), output=folder)


def test_examples_and_statistics_are_read_whole(folder, data, tmp_path):
    strange = str(write_jsonl(tmp_path / "strange.jsonl", [f"zzz qqq {n}" for n in range(9)]))
    changes = CalibrationChanges(score="knn-middle", ood_examples=strange, statistics=data, false_alarm_rate=0.4)
    report = calibrate(str(folder), data, DataSettings(limit=30), changes, device="cpu")
    assert report["held_out"] == 30 and report["score"] == "knn-middle"
    (chosen,) = [row for row in report["trade_off"] if row["chosen"]]
    assert chosen["false_alarm_rate"] == report["false_alarm_rate"] <= 0.4
    caught = np.mean(
        [row.is_ood for row in Model.open(folder, device="cpu").predict([f"zzz qqq {n}" for n in range(9)])]
    )
    assert chosen["detected"]["value"] == pytest.approx(caught), "all nine, whatever --limit says"


def test_backend_and_device_reach_the_model(folder, data, monkeypatch):
    asked = []
    opened = Model.open(folder, device="cpu")
    monkeypatch.setattr(module.Model, "open", lambda *args: asked.append(args) or opened)
    calibrate(str(folder), data, DataSettings(), CalibrationChanges(), backend="torch-bf16", device="cuda:1")
    assert asked == [(str(folder), "torch-bf16", "cuda:1")]


def test_a_failure_changes_nothing(folder, data):
    before = contents(folder)
    with pytest.raises(ConfigError, match="enrgy"):
        calibrate(str(folder), data, DataSettings(), CalibrationChanges(score="enrgy"), device="cpu")
    assert contents(folder) == before


def test_another_missed_rate_needs_several_labels(folder, data):
    with pytest.raises(ConfigError, match="missed_rate: this model gives each text one class"):
        calibrate(str(folder), data, DataSettings(), CalibrationChanges(missed_rate=0.2), device="cpu")
