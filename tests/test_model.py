"""Model: opened, asked, changed and saved, on the device that was asked for."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from masker import ConfigError, DataError, Documents, MaskerError, Model, ModelError
from tests.conftest import make_corpus
from tests.fake_device import NAME, compute_on_meta, fake_device

FIXTURES = Path(__file__).parent / "fixtures"
TEXTS, LABELS = make_corpus(24, seed=3)
META = torch.device("meta")


@pytest.fixture(scope="module")
def masker() -> Model:
    return Model.open(FIXTURES / "masker-bert", device="cpu")


@pytest.fixture(scope="module")
def regression(tiny_settings, tmp_path_factory) -> Model:
    settings = tiny_settings(model={"head": "regression"}, training={"method": "vanilla", "epochs": 1})
    documents = Documents(TEXTS, None, [float(n) for n in range(24)], "scores")
    return Model.fit(documents, settings, tmp_path_factory.mktemp("regression") / "work", device="cpu")


# --- devices ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", [None, "torch", "torch-bf16"])
def test_an_opened_model_is_moved_to_its_device(monkeypatch, backend):
    """Every weight, and every input: ``meta`` computes nothing, but refuses to add to the CPU's tensors."""
    asked = fake_device(monkeypatch, META)
    model = Model.open(FIXTURES / "masker-bert", backend, NAME)
    assert asked == [NAME]
    classifier = model.backend.classifier
    assert {part.device for part in (*classifier.parameters(), *classifier.buffers())} == {META}
    compute_on_meta(monkeypatch)
    seen = []
    classifier.register_forward_pre_hook(
        lambda module, args, inputs: seen.extend(tensor.device for tensor in inputs.values() if tensor is not True),
        with_kwargs=True,
    )
    assert model.outputs(TEXTS).logits.shape == (24, len(model.classes))
    assert set(seen) == {META}


def test_an_opened_linear_model_too(monkeypatch):
    asked = fake_device(monkeypatch, META)
    model = Model.open(FIXTURES / "linear-roberta", device=NAME)
    assert asked == [NAME]
    assert {part.device for part in model.backend._vectorizer._encoder.parameters()} == {META}
    compute_on_meta(monkeypatch)
    assert model.outputs(TEXTS[:3]).logits.shape == (3, len(model.classes))


@pytest.mark.parametrize("name", ["masker-bert", "linear-roberta"])
def test_without_a_name_it_is_the_best_there_is(monkeypatch, name):
    asked = fake_device(monkeypatch)
    Model.open(FIXTURES / name)
    assert asked == ["auto"]


def test_an_unknown_device(tmp_path):
    with pytest.raises(ConfigError, match="device must be auto, cpu, cuda, cuda:N or mps; got 'gpu'"):
        Model.open(FIXTURES / "masker-bert", device="gpu")


# --- use -------------------------------------------------------------------------------------------------------------


def test_one_pass_gives_everything(masker):
    judged, rows = masker.judge(TEXTS), masker.predict(TEXTS)
    assert [row.label for row in rows] == [masker.labels[n] for n in judged.probabilities.argmax(axis=1)]
    assert [row.ood_score for row in rows] == judged.scores.tolist()
    assert [row.p_value for row in rows] == judged.p_values.tolist()
    assert [row.is_ood for row in rows] == judged.rejected.tolist()


def test_nothing_in_nothing_out(masker):
    assert masker.predict([]) == []
    assert masker.outputs([]).logits.shape == (0, len(masker.classes))


def test_texts_of_the_other_kind(masker):
    with pytest.raises(DataError, match=r"trained on single texts; the input is of the other kind"):
        masker.encode([("a", "b")])
    with pytest.raises(DataError, match=r"trained on pairs of texts \(columns text and text_pair\)"):
        replace(masker, pairs=True).encode(["a"])


def test_labelled_texts_get_the_index_of_their_class(masker):
    encoded = masker.encode_labelled(TEXTS[:3], LABELS[:3])
    assert [masker.classes[index] for index in encoded.labels] == LABELS[:3]
    with pytest.raises(DataError, match="'eggs' is not one of the model's classes"):
        masker.encode_labelled(["a"], ["eggs"])


def test_progress_counts_every_text(masker):
    done: list[int] = []
    masker.predict(TEXTS, done.append)
    assert sum(done) == 24


def test_a_regression_predicts_numbers_and_rejects_nothing(regression):
    rows = regression.predict(TEXTS[:2])
    assert all(isinstance(row.label, float) and row.is_ood is None and row.confidence is None for row in rows)
    assert regression.describe_detector() is None
    for call, what in (
        (lambda: regression.judge(TEXTS), "this"),
        (lambda: regression.adjusted(score="energy"), "another score or false-alarm rate"),
        (lambda: regression.calibrate(TEXTS, None), "calibrate"),
        (lambda: regression.at_operating_point(TEXTS), "ood_examples"),
    ):
        with pytest.raises(MaskerError, match=f"^{what} needs classes, and this model is a regression; use predict"):
            call()


def test_evaluating_a_regression(regression):
    test = Documents(TEXTS, None, [float(n) for n in range(24)], "scores")
    report = regression.evaluate(test, resamples=3)
    predicted = np.array([row.label for row in regression.predict(TEXTS)])
    assert report["regression"]["mse"]["value"] == pytest.approx(np.mean((predicted - np.arange(24)) ** 2), rel=1e-5)
    with pytest.raises(ConfigError, match="evaluate it without --ood"):
        regression.evaluate(test, {"ood": test})


def test_evaluating_classes(masker):
    report = masker.evaluate(Documents(TEXTS, None, LABELS, "mine"), {"odd": Documents(["zzz"] * 4, None, None, "z")},
                             resamples=3)  # fmt: skip
    rows = masker.predict(TEXTS)
    right = np.mean([row.label == label for row, label in zip(rows, LABELS, strict=True)])
    assert (report["test"], report["documents"]) == ("mine", 24)
    assert report["classification"]["accuracy"]["value"] == pytest.approx(right)
    assert report["rejected"] == pytest.approx(np.mean([row.is_ood for row in rows]))
    assert report["provenance"]["trained"] == masker.provenance


# --- calibration -----------------------------------------------------------------------------------------------------


def test_changing_a_model_leaves_the_old_one_alone(masker):
    before = masker.predict(TEXTS)
    changed = masker.adjusted(score="energy", false_alarm_rate=0.5)
    assert changed.settings.detection.score == "energy" and changed.settings.detection.false_alarm_rate == 0.5
    assert changed.backend is masker.backend
    assert all(row.is_ood == (row.p_value <= 0.5) for row in changed.predict(TEXTS))
    assert masker.predict(TEXTS) == before and masker.settings.detection.score != "energy"


def test_opening_with_a_score_is_opening_and_changing(masker):
    opened = Model.open(FIXTURES / "masker-bert", device="cpu", score="energy", false_alarm_rate=0.5)
    assert opened.predict(TEXTS) == masker.adjusted(score="energy", false_alarm_rate=0.5).predict(TEXTS)


def test_confidence_is_kept_until_it_is_taken_back(masker, tmp_path):
    """The folder was written before there was a confidence. Of 24 held-out texts the rank for 0.2 with 0.9 is 23,
    as P(Bin(24, 0.2) >= 2) = 0.967 and P(... >= 3) = 0.885."""
    assert masker.settings.detection.confidence is masker.detector.calibration.confidence is None
    assert masker.describe_detector()["confidence"] is None
    sure = masker.calibrate(TEXTS, LABELS, false_alarm_rate=0.2, confidence=0.9)
    scores = np.sort(sure.detector.calibration.scores)
    assert len(scores) == 24 and sure.detector.calibration.threshold == scores[22]
    opened = Model.open(sure.save(tmp_path / "sure"), device="cpu")
    assert opened.describe_detector() == sure.describe_detector()
    assert opened.settings.detection.confidence == opened.adjusted(score="energy").settings.detection.confidence == 0.9
    assert opened.at_operating_point(["zzz qqq"])[0].detector.calibration.confidence == 0.9
    back = Model.open(tmp_path / "sure", device="cpu", confidence=0)
    assert back.settings.detection.confidence is None
    assert back.detector.calibration.threshold == scores[19], "ceil(25 * 0.8) = 20"


def test_the_operating_point_is_the_best_of_the_trade_off(masker):
    strange = [f"zzz {'qqq ' * n}" for n in range(1, 9)]
    model, rows = masker.at_operating_point(strange)
    (chosen,) = [row for row in rows if row["chosen"]]
    assert model.settings.detection.false_alarm_rate == chosen["false_alarm_rate"] <= 0.5
    assert chosen["detected"]["value"] == pytest.approx(np.mean([row.is_ood for row in model.predict(strange)]))
    assert masker.at_operating_point(strange, 0.1)[0].settings.detection.false_alarm_rate <= 0.1
    with pytest.raises(DataError, match="there is no text"):
        masker.at_operating_point([])


# --- folders ---------------------------------------------------------------------------------------------------------


def test_saved_and_opened(masker, tmp_path):
    again = Model.open(masker.save(tmp_path / "model"), device="cpu")
    assert again.predict(TEXTS) == masker.predict(TEXTS)
    for name in ("classes", "label_type", "pairs", "max_length", "keywords", "validation", "provenance", "settings"):
        assert getattr(again, name) == getattr(masker, name), name


def test_a_calibrated_detector_is_written_beside_the_same_network(masker, tmp_path):
    folder = masker.save(tmp_path / "model")
    weights = (folder / "model.safetensors").read_bytes()
    changed = masker.calibrate(TEXTS, LABELS, false_alarm_rate=0.25)
    changed.save_detector(folder)
    again = Model.open(folder, device="cpu")
    assert again.predict(TEXTS) == changed.predict(TEXTS)
    assert (folder / "model.safetensors").read_bytes() == weights
    tokens = again.backend.weights().tensors
    assert tokens.keys() == masker.backend.weights().tensors.keys(), "the token head is still there"


def test_what_holds_no_weights_is_not_saved(tmp_path):
    narrow = Model.open(FIXTURES / "masker-bert", "torch-bf16", "cpu")
    with pytest.raises(ModelError, match="open the model with backend='torch' to save it"):
        narrow.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("missing", ["settings", "classes", "label_type", "score", "provenance", "keywords"])
def test_a_manifest_without_a_part_is_damaged(tmp_path, missing):
    folder = shutil.copytree(FIXTURES / "masker-bert", tmp_path / "model")
    manifest = json.loads((folder / "masker.json").read_text())
    del manifest[missing]
    (folder / "masker.json").write_text(json.dumps(manifest))
    with pytest.raises(ModelError, match=rf"masker.json in '{folder}' is damaged .*{missing}"):
        Model.open(folder)
