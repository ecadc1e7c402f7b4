"""Keywords of data and of models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from masker import ConfigError
from masker.commands.keywords import keywords_of_data, keywords_of_model
from masker.training import run as module
from tests.cli.command_line import write_jsonl
from tests.conftest import make_corpus

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture
def data(tmp_path):
    return str(write_jsonl(tmp_path / "data.jsonl", *make_corpus(45)))


def test_of_data_they_are_those_that_training_uses(data, tiny_settings, tmp_path):
    from masker.commands.train import train

    settings = tiny_settings(training={"epochs": 1}, keywords={"source": "frequency", "per_class": 4})
    found = keywords_of_data(data, settings, "cpu")
    assert len(found) == 12
    assert train(data, tmp_path / "model", settings, device="cpu").model.keywords == found
    assert keywords_of_model(str(tmp_path / "model")) == found


def test_the_temporary_folder_is_removed_and_the_device_is_passed_on(data, tiny_settings, monkeypatch):
    made = []

    class Run:
        def __init__(self, documents, classes, settings, work, device):
            assert work.is_dir()
            made.append((classes, work, device))

        def find_keywords(self):
            return "found"

    monkeypatch.setattr(module, "TrainingRun", Run)
    assert keywords_of_data(data, tiny_settings(), "cuda:1") == "found"
    ((classes, work, device),) = made
    assert (classes, device) == (["food", "space", "sport"], "cuda:1")
    assert not work.exists()


def test_a_regression_has_no_classes(tmp_path, tiny_settings, monkeypatch):
    data = str(write_jsonl(tmp_path / "scores.jsonl", ["a", "b"], [0.5, 1.5]))
    monkeypatch.setattr(
        module.TrainingRun, "__init__", lambda self, documents, classes, *args: setattr(self, "c", classes)
    )
    monkeypatch.setattr(module.TrainingRun, "find_keywords", lambda self: self.c)
    assert keywords_of_data(data, tiny_settings(model={"head": "regression"})) == []


def test_of_a_model():
    stored = json.loads((FIXTURES / "masker-bert" / "masker.json").read_text())["keywords"]
    assert keywords_of_model(str(FIXTURES / "masker-bert")).to_json() == stored
    with pytest.raises(ConfigError, match=r"was trained without keywords \(method linear\); rank those of its data"):
        keywords_of_model(str(FIXTURES / "linear-roberta"))
