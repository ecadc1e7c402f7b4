"""A trained model with more classes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from masker import ConfigError, DataError, Documents, Model, ModelError
from masker.extension import extend_model
from masker.modeling.heads import head_inputs_of
from tests.conftest import FAMILIES, make_corpus

NEW = {"music": ["guitar", "violin", "melody", "concert", "drum", "choir", "song", "tune"]}
EXPORTED = Path(__file__).parent.parent / "fixtures" / "exported-bert"


@pytest.fixture(scope="module")
def model(tiny_settings, tmp_path_factory):
    texts, labels = make_corpus(120)
    return Model.fit(Documents(texts, None, labels, "train"), tiny_settings(), tmp_path_factory.mktemp("work"))


@pytest.fixture(scope="module")
def extended(model):
    return extend_model(model, *make_corpus(40, seed=3, topics=NEW), data="new.csv")


def test_old_answers_stay_and_new_ones_come(model, extended):
    texts = make_corpus(60, seed=4)[0]
    before, after = model.judge(texts), extended.model.judge(texts)
    assert extended.model.classes == [*model.classes, "music"] and extended.new_classes == ["music"]
    assert (after.predicted == before.predicted).mean() > 0.9
    new = extended.model.judge(make_corpus(40, seed=5, topics=NEW)[0])
    assert (new.predicted == len(model.classes)).mean() > 0.8
    assert new.rejected.mean() < 0.3


def test_kept_texts_keep_their_answers_and_look_no_stranger(extended):
    """Scores of old held-out texts move as those of the kept texts do; with more neighbours, these do not rise."""
    assert extended.kept > 0.9 and 0.5 < extended.accuracy <= 1
    assert extended.rises["knn"] <= 0  # more neighbours


def test_the_false_alarm_rate_holds_for_old_and_new_classes(model, extended):
    promised = model.require_detector().calibration.false_alarm_rate
    for topics in ({}, {"topics": NEW}):
        rejected = extended.model.judge(make_corpus(200, seed=11, **topics)[0]).rejected.mean()
        assert rejected <= promised + 0.06, topics


def test_the_folder_is_an_ordinary_one(extended, tmp_path):
    from transformers import pipeline

    folder = extended.model.save(tmp_path / "model")
    again = Model.open(folder)
    texts = make_corpus(10, seed=6, topics=NEW)[0] + make_corpus(10, seed=6)[0]
    np.testing.assert_allclose(again.judge(texts).scores, extended.model.judge(texts).scores, rtol=1e-4, atol=1e-4)
    assert again.judge(texts).rejected.tolist() == extended.model.judge(texts).rejected.tolist()
    plain = pipeline("text-classification", str(folder), truncation=True)
    assert [row["label"] for row in plain(texts)] == [row.label for row in again.predict(texts)]
    record = again.provenance["extended"]
    assert len(record) == 1 and record[0]["texts"] == {"music": 40} and record[0]["data"] == "new.csv"
    assert again.adjusted(false_alarm_rate=0.2).require_detector().calibration.apart is not None


def test_twice(extended):
    topics = {"rain": ["cloud", "storm", "umbrella", "thunder"], "food": ["bread", "soup", "cheese", "recipe"]}
    again = extend_model(extended.model, *make_corpus(24, seed=7, topics=topics))
    assert again.model.classes == [*extended.model.classes, "rain"] and again.added == {"food": 12, "rain": 12}
    assert len(again.model.provenance["extended"]) == 2
    assert again.model.require_detector().added.tolist() == [False, False, False, True, True]


def test_one_text_of_a_class_calibrates_nothing(model):
    made = extend_model(model, ["a guitar and a violin"], ["music"])
    assert made.accuracy is None
    old, new = (m.require_detector().calibration for m in (model, made.model))
    assert len(new.scores) == len(old.scores) and new.apart is None


def test_numbers_stay_numbers(model):
    counted = replace(model, classes=["1", "2", "3"], label_type="int")
    assert extend_model(counted, ["guitar", "violin"], [7, 7]).model.labels == [1, 2, 3, 7]
    assert extend_model(counted, ["guitar", "violin"], ["music"] * 2).model.labels == ["1", "2", "3", "music"]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_gives_its_head_inputs(tiny_backbones, family):
    import torch
    from transformers import AutoModelForSequenceClassification

    from masker.modeling.heads import grow_output_layer, read_output_layer

    torch.manual_seed(0)
    classifier = AutoModelForSequenceClassification.from_pretrained(tiny_backbones[family], num_labels=3).eval()
    with torch.inference_mode():
        output = classifier(torch.tensor([[2, 7, 8, 9, 3]]), output_hidden_states=True)
    inputs = head_inputs_of(classifier, output.hidden_states[-1][:, 0].numpy())
    weight, bias = read_output_layer(classifier)
    np.testing.assert_allclose(inputs @ weight.T + bias, output.logits.numpy(), atol=1e-5)
    grow_output_layer(classifier, np.vstack([weight, weight[:1]]), np.append(bias, bias[0]), ["a", "b", "c", "d"])
    with torch.inference_mode():
        grown = classifier(torch.tensor([[2, 7, 8, 9, 3]])).logits.numpy()
    np.testing.assert_allclose(grown, output.logits.numpy()[:, [0, 1, 2, 0]], atol=1e-5)
    assert classifier.config.num_labels == 4


def test_refusals(model):
    with pytest.raises(DataError, match="there is no text"):
        extend_model(model, [], [])
    with pytest.raises(ModelError, match="use --backend torch"):
        extend_model(Model.open(EXPORTED), ["a"], ["b"])
    detector = model.require_detector()
    bare = model.with_detector(replace(detector, basis=replace(detector.basis, statistics=None)))
    with pytest.raises(ModelError, match="keeps no features"):
        extend_model(bare, ["a"], ["b"])
    training = model.settings.training.model_copy(update={"method": "openmax"})
    doc = replace(model, settings=model.settings.model_copy(update={"training": training}))
    with pytest.raises(ConfigError, match="--retrain"):
        extend_model(doc, ["a"], ["b"])
