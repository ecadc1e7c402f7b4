"""Texts with several labels, from a file to an answer."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from masker import Client, ConfigError, DataError, Documents, MaskerClassifier, MaskerError, Model
from masker.detection.prediction import LabelSetPrediction
from masker.labels import label_matrix
from tests.cli.command_line import one_line, run
from tests.conftest import _FILLER, _TOPICS


def make_documents(count: int, seed: int = 0) -> Documents:
    """Sentences with words of none, one or two topics."""
    draw = random.Random(seed)
    texts, labels = [], []
    for _ in range(count):
        own = sorted(draw.sample(list(_TOPICS), draw.choice([0, 1, 1, 2])))
        words = [word for label in own for word in draw.choices(_TOPICS[label], k=3)] + draw.choices(_FILLER, k=6)
        draw.shuffle(words)
        texts.append(" ".join(words))
        labels.append(own)
    return Documents(texts, None, labels, "made up")


TRAIN, TEST = make_documents(240), make_documents(60, seed=1)


@pytest.fixture(scope="module")
def settings(tiny_settings):
    return tiny_settings(training={"method": "vanilla", "epochs": 3}, detection={"calibration": "split"},
                         data={"validation_fraction": 0.4})  # fmt: skip


@pytest.fixture(scope="module")
def model(settings, tmp_path_factory) -> Model:
    return Model.fit(TRAIN, settings, tmp_path_factory.mktemp("labels") / "work", device="cpu")


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    return model.save(tmp_path_factory.mktemp("saved") / "model")


def test_lists_of_labels_make_a_multi_label_model(model):
    assert model.is_multi_label
    assert model.classes == ["food", "space", "sport"]
    assert set(model.validation) == {"micro_f1"}
    assert model.provenance["decisions"]["labels"].startswith("one threshold; misses at most 10 % of a text's labels")
    assert model.backend.weights().native.config.problem_type == "multi_label_classification"


def test_answers(model):
    answers = model.predict(TEST.texts)
    judged = model.judge(TEST.texts)
    for row, answer in enumerate(answers):
        assert isinstance(answer, LabelSetPrediction)
        assert sorted(answer.labels) == [
            name for name, given in zip(model.classes, judged.given[row], strict=True) if given
        ]
        assert list(answer.label_confidence) == sorted(answer.label_confidence, reverse=True)
        assert answer.as_dict()["none"] == (not judged.given[row].any())
    assert {len(answer.labels) for answer in answers} >= {0, 1, 2}
    assert model.predict([]) == []


def test_figures(model):
    report = model.evaluate(TEST, {"noise": Documents(["zzz qqq"] * 5, None, None, "noise")}, resamples=10)
    true, given = label_matrix(TEST.labels, model.classes), model.judge(TEST.texts).given
    assert report["label_sets"]["micro_f1"]["value"] == pytest.approx(
        2 * (true & given).sum() / (true.sum() + given.sum())
    )
    assert report["label_sets"]["micro_f1"]["value"] > 0.7  # chance gives about a half
    assert report["missed"] == {"asked": 0.1, "promised": 0.1, "held_out": model.detector.label_rule.held_out}
    assert [row["label"] for row in report["by_label"]] == model.classes
    assert report["none"]["true"] == float((true.sum(axis=1) == 0).mean())
    assert report["ood"]["noise"]["documents"] == 5
    with pytest.raises(DataError, match="has one label for each text, and this model takes lists of labels"):
        model.evaluate(Documents(["a"], None, ["food"], "single"))


def test_a_folder_gives_the_same_answers(model, folder):
    opened = Model.open(folder, device="cpu")
    assert opened.predict(TEST.texts) == model.predict(TEST.texts)
    assert opened.detector.label_rule.to_manifest() == model.detector.label_rule.to_manifest()
    few = Model.open(folder, device="cpu", missed_rate=0.02)
    assert few.detector.label_rule.missed_rate == few.settings.detection.missed_rate == 0.02
    assert few.judge(TEST.texts).given.sum() >= model.judge(TEST.texts).given.sum()


def test_plain_transformers_gives_the_same_probabilities(model, folder):
    from transformers import pipeline

    found = pipeline("text-classification", str(folder), top_k=None)(TEST.texts[:3])
    sigmoids = 1 / (1 + np.exp(-model.outputs(TEST.texts[:3]).logits.astype(float)))
    for row, scores in zip(sigmoids, found, strict=True):
        told = {one["label"]: one["score"] for one in scores}
        assert [told[name] for name in model.classes] == pytest.approx(row, abs=1e-4)


def test_calibration_on_new_texts(model):
    other = make_documents(120, seed=2)
    fresh = model.calibrate(other.texts, other.labels)
    assert fresh.detector.label_rule.held_out == sum(map(bool, other.labels))
    # The labels of new texts are unknown: the thresholds stay, and rejection is calibrated.
    unlabelled = model.calibrate(other.texts, None)
    assert unlabelled.detector.label_rule is model.detector.label_rule
    assert len(unlabelled.detector.calibration.scores) == 120


def test_nothing_held_out_promises_nothing(settings, tmp_path):
    whole = settings.model_copy(update={"data": settings.data.model_copy(update={"validation_fraction": 0.0})})
    plain = whole.model_copy(update={"detection": whole.detection.model_copy(update={"score": "max-prob"})})
    model = Model.fit(TRAIN, plain, tmp_path / "work", device="cpu")
    assert model.detector.label_rule.promised is None
    assert model.detector.label_rule.thresholds.tolist() == [0.0, 0.0, 0.0]


def test_cross_fitted_by_masker(tiny_settings, tmp_path):
    """The default for few texts: keywords count for each label, and every document calibrates."""
    settings = tiny_settings(training={"method": "masker"}, detection={"calibration": "cross-fit"})
    model = Model.fit(make_documents(60), settings, tmp_path / "work", device="cpu")
    rule = model.detector.label_rule
    assert rule.held_out == sum(map(bool, make_documents(60).labels))
    assert model.keywords is not None and len(model.keywords) > 0


def test_linear_and_class_conditional(tiny_settings, tmp_path):
    settings = tiny_settings(training={"method": "linear"}, detection={"class_conditional": True})
    model = Model.fit(make_documents(150), settings, tmp_path / "work", device="cpu")
    assert model.detector.label_rule.by_label.all()
    assert model.predict(TEST.texts[:2])[0].labels is not None


def test_other_promises_of_a_model_of_classes_are_refused(tiny_settings, tmp_path):
    single = TRAIN.take([row for row, labels in enumerate(TRAIN.labels) if len(labels) == 1])
    classes = Documents(single.texts, None, [labels[0] for labels in single.labels], "single")
    settings = tiny_settings(training={"method": "linear"})
    model = Model.fit(classes, settings, tmp_path / "work", device="cpu")
    with pytest.raises(ConfigError, match="missed_rate: this model gives each text one class"):
        model.at_missed_rate(0.1)
    with pytest.raises(DataError, match="has lists of labels, and this model takes one label for each text"):
        model.evaluate(TEST)


def test_scikit_learn_face(tiny_settings):
    settings = tiny_settings(training={"method": "linear"}).model_dump()
    classifier = MaskerClassifier(method="linear", backbone=settings["model"]["backbone"], device="cpu")
    classifier.fit(TRAIN.texts, TRAIN.labels)
    told = classifier.predict(TEST.texts)
    assert told.shape == (60, 3) and set(np.unique(told)) <= {0, 1}
    assert classifier.classes_.tolist() == ["food", "space", "sport"]
    true = label_matrix(TEST.labels, classifier.model_.classes)
    assert classifier.score(TEST.texts, TEST.labels) == pytest.approx((told == true).all(axis=1).mean())
    assert classifier.predict_proba(TEST.texts).shape == (60, 3)
    with pytest.raises(MaskerError, match="use predict_texts, which has is_ood"):
        classifier.predict(TEST.texts, reject=True)


def test_an_exported_model_gives_the_same_labels(model, folder, tmp_path):
    pytest.importorskip("onnxscript", reason="ONNX export is not installed; pip install 'masker[onnx]'")
    from masker.export import CheckData, export_onnx

    report = export_onnx(folder, output=tmp_path / "exported", check=CheckData(TEST))
    assert report.agreement["backends"]["onnx"]["label_agreement"] == 1.0
    exported = Model.open(tmp_path / "exported", backend="onnx")
    assert [one.labels for one in exported.predict(TEST.texts)] == [one.labels for one in model.predict(TEST.texts)]


def test_client(monkeypatch):
    client = Client("http://127.0.0.1:1")
    rest = {"p_value": 0.5, "ood_score": 0.1, "is_ood": False}
    told = [
        {"labels": ["a", "b"], "confidence": [0.9, 0.6], "none": False, **rest},
        {"labels": [], "confidence": [], "none": True, **rest},
    ]
    monkeypatch.setattr(client, "classify", lambda texts: told)
    assert [answer.as_dict() for answer in client.predict(["x", "y"])] == told
    assert [answer.label for answer in client.predict(["x", "y"])] == ["a", None]


def test_service(model):
    pytest.importorskip("fastapi", reason="FastAPI is not installed; pip install 'masker[serve]'")
    from fastapi.testclient import TestClient

    from masker.service import create_app
    from masker.service.schemas import ClassifyResponse

    with TestClient(create_app(model)) as client:
        told = client.post("/v1/classify", json={"texts": TEST.texts[:5], "top_k": 2}).json()
        described = client.get("/v1/model").json()
    assert [one["labels"] for one in told["predictions"]] == [list(one.labels) for one in model.predict(TEST.texts[:5])]
    assert len(told["predictions"][0]["top_k"]) == 2
    ClassifyResponse.model_validate(told)
    assert described["multi_label"] and described["detector"]["labels"]["promised"] == 0.1


def test_report_shows_what_needs_no_classes(model):
    from masker.commands.report import ReportDocuments, report_on

    made = report_on(model, ReportDocuments(train=TRAIN))
    assert made.evaluation is None and made.scores is not None
    with pytest.raises(ConfigError, match="measure several labels with 'masker evaluate'"):
        report_on(model, ReportDocuments(test=TEST))


def test_rejects_are_grouped_and_review_refuses(folder, tmp_path):
    """Texts with none of the labels are in the bank, and are no class that a group could be near."""
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEST.texts))
    done = run("discover", str(folder), str(data), "--all", "--json")
    assert done.returncode == 0, done.stderr
    groups = json.loads(done.stdout)["groups"]
    assert groups and all(group["nearest"] in ("food", "space", "sport", None) for group in groups)
    refused = run("review", str(folder), str(data), "--budget", "3", "--output", str(tmp_path / "r.csv"))
    assert "review suggests one class for each text, and the model gives several labels" in one_line(refused)


def test_what_needs_one_class_for_each_text_says_so(model):
    from masker.extension import extend_model

    with pytest.raises(ConfigError, match="train the model anew on all texts"):
        extend_model(model, ["a"], ["new"])


def test_examples_and_monitor(model):
    from masker.evidence.training_examples import choose_examples
    from masker.service.answering import drift_monitor

    assert set(choose_examples(model, TRAIN, 9).labels) <= {"; ".join(labels) for labels in TRAIN.labels}
    monitor = drift_monitor(model)
    monitor.observe([0.1], [model.predict(TEST.texts[:1])[0].label])


def test_command_line(tiny_settings, tmp_path):
    data = tmp_path / "data.jsonl"
    rows = ({"text": text, "labels": labels} for text, labels in zip(TRAIN.texts, TRAIN.labels, strict=True))
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    backbone = tiny_settings().model.backbone
    train = ["train", str(data), "--method", "linear", "--backbone", backbone, "--output", str(tmp_path / "model")]
    done = run(*train, "--missed-rate", "0.2")
    assert done.returncode == 0, done.stderr
    assert "misses at most 20 % of a text's labels on average" in done.stdout
    assert (tmp_path / "model" / "README.md").is_file()
    plan = run(*train, "--plan").stdout
    assert "labels:     one threshold; misses at most 10 %" in plan and "3 labels of" in plan
    told = run("predict", str(tmp_path / "model"), str(data), "--limit", "20", "--format", "csv").stdout.splitlines()
    assert told[0] == "labels,confidence,none,p_value,ood_score,is_ood"
    assert any(";" in line.split(",")[0] for line in told[1:])
    report = json.loads(run("evaluate", str(tmp_path / "model"), str(data), "--json", "--resamples", "5").stdout)
    assert report["missed"]["promised"] == 0.2
    assert "missed_share (promised 0.2 on average)" in run("evaluate", str(tmp_path / "model"), str(data)).stdout
    refused = run("train", str(data), "--method", "doc", "--output", str(tmp_path / "doc"))
    assert "model.head must be one-vs-rest for training.method=doc; got 'multi-label'" in one_line(refused)
