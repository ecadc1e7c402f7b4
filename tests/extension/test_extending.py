"""A trained model with more classes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from masker import ConfigError, DataError, Documents, Model, ModelError
from masker.detection.calibration import Calibration
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


def test_examples_of_old_classes_set_no_threshold(model, extended):
    """Such texts were rejected, or nearly: as calibrating texts they would stand for their class, and raise its
    threshold."""
    texts, labels = make_corpus(40, seed=13)
    strange = [f"{text} zzz qqq xxx" for text in texts]
    made = extend_model(model, strange, labels).model.require_detector()
    assert len(made.held_out.predicted) == len(model.require_detector().held_out.predicted)
    both = extend_model(model, [*strange, *make_corpus(40, seed=3, topics=NEW)[0]], [*labels, *["music"] * 40]).model
    joined = extended.model.require_detector().held_out.predicted
    assert len(both.require_detector().held_out.predicted) == len(joined)


def test_what_promised_nothing_promises_nothing(model):
    """Without held-out texts nothing is rejected, and a threshold from outside stays: new texts are not enough."""
    detector = model.require_detector()
    kept = replace(detector.held_out, scores={name: np.empty(0) for name in detector.held_out.scores})
    kept = replace(kept, predicted=np.empty(0, dtype=np.int64), labels=None, confidence=None)
    nothing = Calibration.fit(np.empty(0), kept.predicted, len(model.classes), 0.05, class_conditional=False)
    texts, labels = make_corpus(40, seed=3, topics=NEW)
    bare = model.with_detector(replace(detector, held_out=kept, calibration=nothing))
    found = extend_model(bare, texts, labels).model.require_detector()
    assert found.calibration.promised is None and np.isinf(found.calibration.threshold)
    assert not len(found.held_out.predicted)
    by_hand = model.with_detector(replace(detector, calibration=detector.calibration.with_threshold(1.25)))
    found = extend_model(by_hand, texts, labels).model.require_detector().calibration
    assert found.promised is None and found.thresholds.tolist() == [1.25] * (len(model.classes) + 1)


def test_calibrating_an_extended_model_keeps_the_added_classes_apart(extended):
    texts = [*make_corpus(60, seed=14)[0], *make_corpus(60, seed=15, topics=NEW)[0]]
    again = extended.model.calibrate(texts, None).require_detector()
    assert again.added.tolist() == extended.model.require_detector().added.tolist()
    assert again.calibration.apart is not None and len(set(again.calibration.thresholds.tolist())) == 2


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
    with pytest.raises(ModelError, match="exported model or one in 16 bits does not hold"):
        extend_model(Model.open(EXPORTED), ["a"], ["b"])
    detector = model.require_detector()
    bare = model.with_detector(replace(detector, basis=replace(detector.basis, statistics=None)))
    with pytest.raises(ModelError, match="keeps no features"):
        extend_model(bare, ["a"], ["b"])
    training = model.settings.training.model_copy(update={"method": "openmax"})
    doc = replace(model, settings=model.settings.model_copy(update={"training": training}))
    with pytest.raises(ConfigError, match="--retrain"):
        extend_model(doc, ["a"], ["b"])
