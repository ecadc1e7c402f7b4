"""The demonstration from start to end, on a made-up corpus with a tiny encoder."""

from __future__ import annotations

import json

import pytest

from masker.config import build_settings
from masker.documents import Documents
from masker.errors import ConfigError
from masker.experiments import demo
from masker.experiments.support_messages import QUESTIONS, support_messages
from masker.model import Model
from masker.report.demo_summary import print_demo
from tests.conftest import make_corpus


@pytest.fixture
def small(monkeypatch, tiny_backbones):
    texts, labels = make_corpus(420)
    strange = Documents([f"zzz qqq {n}" for n in range(20)], None, None, "strange")
    data = demo.DemoData(
        Documents(texts[:380], None, labels[:380], "train"), Documents(texts[380:], None, labels[380:], "test"),
        {"strange": strange},
    )  # fmt: skip
    monkeypatch.setattr(demo, "load_demo_data", lambda: data)
    settings = {
        "model": {"backbone": str(tiny_backbones["bert"]), "max_length": 32},
        "training": {"epochs": 1, "batch_size": 32, "precision": "fp32"},
    }
    monkeypatch.setattr(demo, "Settings", lambda: build_settings(settings))
    split = {"detection": {"calibration": "split", "confidence": 0.95}, "data": {"validation_fraction": 0.4}}
    monkeypatch.setattr(demo, "DEMO_SETTINGS", {**settings, **split})


def test_three_ways_are_compared_and_kept(small, tmp_path, capsys):
    folder = tmp_path / "demo"
    result = demo.run_demo(folder)
    assert list(result.reports) == ["vanilla", "masker, max-prob", "masker, auto"]
    assert [report["score"] for report in result.reports.values()] == ["max-prob", "max-prob", "auto"]
    accuracies = [report["classification"]["accuracy"]["value"] for report in result.reports.values()]
    assert accuracies[1] == accuracies[2], "one model, two scores"
    stored = json.loads((folder / "results.json").read_text())
    assert stored["reports"].keys() == result.reports.keys()
    assert sorted(path.name for path in folder.iterdir()) == ["masker", "results.json", "support", "vanilla"]
    print_demo(result)
    shown = capsys.readouterr().out
    for part in ("strange", "masker, max-prob", "masker, auto", "keywords", "what a final"):
        assert part in shown
    assert "24 support messages" in shown and all(question in shown for question in QUESTIONS)
    assert "at most 5 %, 95 % sure" in shown
    demo.run_demo(folder)  # a second run takes its own folder again


def test_support_messages_are_trained_as_a_user_would(small, tmp_path):
    """24 of 4 classes, cross-fitted, and every question is answered by the saved model."""
    messages = support_messages()
    assert len(messages) == 24 and sorted(messages.class_names) == ["account", "delivery", "product", "refund"]
    assert not set(QUESTIONS) & set(messages.texts)
    result = demo.run_demo(tmp_path / "demo")
    assert [text for text, _ in result.support] == list(QUESTIONS)
    assert 0 < result.support_seconds < result.seconds
    model = Model.open(tmp_path / "demo" / "support", device="cpu")
    assert model.classes == sorted(messages.class_names)
    assert "cross-fitted in 5 folds" in model.provenance["decisions"]["held out"]
    for (_, shown), kept in zip(result.support, model.predict(QUESTIONS), strict=True):
        assert shown.label == kept.label and shown.ood_score == pytest.approx(kept.ood_score)


def test_a_folder_with_other_files_is_left_alone(small, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigError, match="holds other files"):
        demo.run_demo(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
