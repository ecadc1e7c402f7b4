"""Model.fit: classes in the order of the user's labels, and where a model says that it comes from."""

from __future__ import annotations

import numpy as np
import pytest

from masker import DataError, Documents, Model
from tests.conftest import make_corpus
from tests.fake_device import DEVICE, NAME, fake_device

TEXTS, LABELS = make_corpus(24, seed=3)


def fast(tiny_settings, calibration="auto", **sections):
    training = {"method": "vanilla", "epochs": 1}
    return tiny_settings(training=training, detection={"score": "max-prob", "calibration": calibration}, **sections)


def test_classes_are_ordered_as_the_users_labels(tiny_settings, tmp_path):
    """As numbers 9 comes before 10, as names after it."""
    labels = [{"space": "10", "food": "9", "sport": "2"}[label] for label in LABELS]
    documents = Documents(TEXTS, None, labels, "made up")
    settings = fast(tiny_settings, "split")
    numbers = Model.fit(documents, settings, tmp_path / "a", label_type="int", device="cpu")
    assert numbers.classes == ["2", "9", "10"] and numbers.labels == [2, 9, 10]
    names = Model.fit(documents, settings, tmp_path / "b", device="cpu")
    assert names.classes == ["10", "2", "9"] and names.labels == names.classes


def test_it_knows_where_it_comes_from(tiny_settings, tmp_path):
    documents = Documents(TEXTS, None, LABELS, "made up")
    model = Model.fit(documents, fast(tiny_settings, model={"max_length": 20}), tmp_path / "work", device="cpu")
    assert model.provenance["data"] == "made up" and model.provenance["rows"] == 24
    assert model.provenance["data_sha256"] == documents.fingerprint()
    assert model.max_length == model.tokenizer.model_max_length == 20
    decisions = model.provenance["decisions"]
    assert list(decisions) == ["documents", "pooling", "training", "held out", "rejection"]
    assert decisions["held out"].startswith("none: cross-fitted in 5 folds")
    assert len(model.detector.calibration.scores) == 24 and model.describe_detector()["separate"]
    assert list(model.validation) == ["accuracy"] and model.keywords is None and not model.pairs
    assert (tmp_path / "work").is_dir(), "left for the caller"
    assert list(model.losses) == [f"fold-{fold}/vanilla" for fold in range(1, 6)]
    assert all(curve["step"] and set(curve) == {"step", "L_CE"} for curve in model.losses.values())
    again = Model.open(model.save(tmp_path / "model"), device="cpu")
    assert again.losses == model.losses
    for name in ("labels", "confidence", "predicted"):
        column, stored = (getattr(one.detector.held_out, name) for one in (model, again))
        np.testing.assert_array_equal(stored, column)
    held_out = again.detector.held_out
    assert np.bincount(held_out.labels).tolist() == [LABELS.count(name) for name in model.classes]
    assert (held_out.labels == held_out.predicted).mean() == pytest.approx(model.validation["accuracy"])


def test_one_class_is_refused(tiny_settings, tmp_path):
    with pytest.raises(DataError, match="class"):
        Model.fit(Documents(TEXTS, None, ["a"] * 24, "one"), fast(tiny_settings), tmp_path / "work")
    assert not (tmp_path / "work").exists()


def test_a_fitted_model_stays_on_its_device(tiny_settings, tmp_path, monkeypatch):
    asked = fake_device(monkeypatch)
    documents = Documents(TEXTS, None, LABELS, "made up")
    model = Model.fit(documents, fast(tiny_settings), tmp_path / "work", device=NAME)
    assert model.backend.device == DEVICE
    assert set(asked) == {NAME, str(DEVICE)}
