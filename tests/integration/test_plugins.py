"""A package installed beside masker brings a score, a training method and a keyword scheme, without a fork.

The package is a folder with a ``dist-info``, which is all that pip leaves behind. Its own process finds it by name from
the command line: train, predict, evaluate, calibrate.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import Done, training_options, write_jsonl
from tests.conftest import make_corpus

PLUGIN = '''
import numpy as np

from masker.detection.score import LearntScore, Score, register_score
from masker.keywords.scheme import KeywordScheme
from masker.registry import KEYWORD_SCHEMES, METHODS
from masker.training.methods import Method


@register_score
class MarginScore(Score):
    """How close the two best logits are."""

    name = "margin"

    def ood_score(self, outputs):
        ranked = np.sort(outputs.logits.astype(np.float64), axis=1)
        return ranked[:, -2] - ranked[:, -1]


@register_score
class BoxScore(LearntScore):
    """How far the document token lies outside the box around the training documents."""

    name = "box"
    features = ("cls",)

    def __init__(self, low, high):
        self.low, self.high = low, high

    def ood_score(self, outputs):
        rows = np.asarray(outputs.features["cls"], dtype=np.float64)
        return np.maximum(self.low - rows, 0).sum(axis=1) + np.maximum(rows - self.high, 0).sum(axis=1)

    @classmethod
    def fit(cls, outputs, labels, settings):
        rows = np.asarray(outputs.features["cls"], dtype=np.float64)
        return cls(rows.min(axis=0), rows.max(axis=0))

    def state(self):
        return {"low": self.low, "high": self.high}

    @classmethod
    def from_state(cls, state, settings):
        return cls(state["low"], state["high"])


class RarestScheme(KeywordScheme):
    """The rarest tokens of each class."""

    name = "rarest"

    def class_scores(self, evidence):
        return np.where(evidence.counts > 0, -evidence.counts.astype(np.float64), -np.inf)


KEYWORD_SCHEMES.add("rarest", RarestScheme())


def train_without_context(run):
    """MASKER whose keywords must be found by the plug-in's own scheme."""
    keywords = run.find_keywords()
    assert keywords.source == "rarest", keywords.source
    return run.fit_network(keywords=keywords)


METHODS.add("rare-masker", Method("rare-masker", train_without_context, ("multi-class", "one-vs-rest"), keywords=True))
'''


@pytest.fixture(scope="module")
def plugin(tmp_path_factory) -> Path:
    """A folder for PYTHONPATH with the plug-in, as pip would have installed it."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "my_plugin.py").write_text(PLUGIN)
    info = folder / "my_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-plugin\nVersion: 1.0\n")
    groups = "".join(f"[masker.{group}]\nmine = my_plugin\n" for group in ("scores", "methods", "keywords"))
    (info / "entry_points.txt").write_text(groups)
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_jsonl(folder / "train.jsonl", *make_corpus(120))
    write_jsonl(folder / "test.jsonl", *make_corpus(30, seed=1))
    write_jsonl(folder / "ood.jsonl", ["moon soup goal of the old", "a was quite again", "very near some"], ["x"] * 3)
    return folder


def masker(plugin: Path | None, *words: object) -> subprocess.CompletedProcess[str]:
    return python(plugin, "-m", "masker", *map(str, words))


def python(plugin: Path | None, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, [str(plugin or ""), os.environ.get("PYTHONPATH", "")]))
    environment, root = {**os.environ, "PYTHONPATH": path}, Path(__file__).parents[2]
    command = [sys.executable, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=root)


def masker_commands(plugin: Path, *commands: list[object]) -> list[Done]:
    """Several commands in one process, because starting one takes seconds."""
    code = (
        "import json, sys; from dataclasses import asdict; from tests.cli.command_line import run; "
        "print(json.dumps([asdict(run(*words)) for words in json.loads(sys.argv[1])]))"
    )
    done = python(plugin, "-c", code, json.dumps(commands, default=str))
    assert done.returncode == 0, done.stderr
    return [Done(**result) for result in json.loads(done.stdout.splitlines()[-1])]


@pytest.mark.parametrize("score", ["margin", "box"])
def test_train_save_load_predict_and_evaluate_with_them(plugin, data, tiny_backbones, tmp_path, score):
    model, options = tmp_path / "model", training_options(tiny_backbones["bert"])
    if score == "margin":  # the other is cross-fitted, as by default
        options += ["--set", "detection.calibration=split"]
    done = masker(
        plugin, "train", data / "train.jsonl", "--output", model, *options, "--method", "rare-masker",
        "--keywords", "rarest", "--score", score,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "(rarest)" in done.stdout and f"score {score}" in done.stdout
    manifest = json.loads((model / "masker.json").read_text())
    assert (manifest["score"], manifest["settings"]["training"]["method"]) == (score, "rare-masker")
    assert manifest["settings"]["model"]["head"] == "multi-class"

    predicted, evaluated, calibrated = masker_commands(
        plugin,
        ["predict", model, data / "ood.jsonl"],
        ["evaluate", model, data / "test.jsonl", "--ood", data / "ood.jsonl", "--json"],
        ["calibrate", model, data / "test.jsonl", "--score", "margin", "--output", tmp_path / "other"],
    )
    assert predicted.returncode == 0, predicted.stderr
    rows = [json.loads(line) for line in predicted.stdout.splitlines()]
    assert len(rows) == 3 and all(row["ood_score"] is not None for row in rows)

    assert evaluated.returncode == 0, evaluated.stderr
    report = json.loads(evaluated.stdout)
    assert report["score"] == score and 0 <= report["ood"]["ood"]["auroc"]["value"] <= 1

    assert calibrated.returncode == 0, calibrated.stderr
    assert json.loads((tmp_path / "other" / "masker.json").read_text())["score"] == "margin"


def test_without_the_package_the_model_says_what_is_missing(plugin, data, tiny_backbones, tmp_path):
    model, options = tmp_path / "model", training_options(tiny_backbones["bert"])
    options += ["--epochs", "1", "--set", "detection.calibration=split"]
    train = ("train", data / "train.jsonl", "--output", model, *options)
    refused = masker(None, *train, "--method", "vanilla", "--score", "margin")
    assert refused.returncode == 2 and "detection.score: must be one of" in refused.stderr
    assert masker(plugin, *train, "--method", "vanilla", "--score", "margin").returncode == 0
    unknown = masker(None, "predict", model, data / "ood.jsonl")
    assert unknown.returncode == 2 and "score 'margin', which is not installed" in unknown.stderr


def test_a_broken_package_is_named_in_one_line(tmp_path, data, plugin):
    (tmp_path / "broken.py").write_text("import no_such_module\n")
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[masker.methods]\nbroken = broken\n")
    done = masker(tmp_path, "train", data / "train.jsonl", "--output", tmp_path / "model")
    assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1
    assert "plug-in 'broken' (broken) cannot be loaded (ModuleNotFoundError" in done.stderr
