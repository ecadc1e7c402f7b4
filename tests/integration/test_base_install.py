"""A model that was exported elsewhere, with what ``pip install 'masker[serve]'`` brings and nothing else.

``benchmarks/versions.py`` runs this with every Python it finds; ``test_without_torch.py`` asks more, but exports first.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from masker import Client, Model
from tests.cli.command_line import run, write_jsonl
from tests.conftest import make_corpus

FIXTURES = Path(__file__).parent.parent / "fixtures"
TEXTS, LABELS = make_corpus(48, seed=3)
#: What the model answered before it was exported.
BEFORE = json.loads((FIXTURES / "masker-bert.json").read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path) -> Path:
    return Path(shutil.copytree(FIXTURES / "exported-bert", tmp_path / "model"))


@pytest.fixture
def data(tmp_path) -> Path:
    write_jsonl(tmp_path / "texts.jsonl", TEXTS, LABELS)
    return tmp_path / "texts.jsonl"


def test_it_answers_as_before(folder):
    for answer, before in zip(Model.open(folder).predict([row["text"] for row in BEFORE]), BEFORE, strict=True):
        assert (answer.label, answer.is_ood) == (before["label"], before["is_ood"])
        assert answer.confidence == pytest.approx(before["confidence"], abs=1e-4)
        assert answer.ood_score == pytest.approx(before["ood_score"], abs=1e-3)


def test_predict_evaluate_and_calibrate(folder, data):
    predicted = run("predict", str(folder), str(data))
    assert predicted.returncode == 0, predicted.stderr
    right = [
        json.loads(line)["label"] == label for line, label in zip(predicted.stdout.splitlines(), LABELS, strict=True)
    ]
    evaluated = run("evaluate", str(folder), str(data), "--resamples", "3")
    assert evaluated.returncode == 0, evaluated.stderr
    assert f"{sum(right) / len(right):.4f}" in evaluated.stdout
    calibrated = run("calibrate", str(folder), str(data), "--false-alarm-rate", "0.25")
    assert calibrated.returncode == 0, calibrated.stderr
    rejected = [prediction.is_ood for prediction in Model.open(folder).predict(TEXTS)]
    assert 0 < sum(rejected) <= len(TEXTS) / 4


def test_serve(folder):
    pytest.importorskip("uvicorn", reason="uvicorn is not installed; pip install 'masker[serve]'")
    from tests.service.running import running

    with running(str(folder)) as service, Client(service.url) as client:
        assert client.predict(TEXTS[:3]) == Model.open(folder).predict(TEXTS[:3])
        assert service.stop() == 0
