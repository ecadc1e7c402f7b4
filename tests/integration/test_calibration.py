"""Calibrating a model: at training, anew on other texts, for another score, with examples; and folders of old."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from masker import ConfigError, DataError, MaskerClassifier, ModelError
from masker.documents import Documents
from tests.conftest import make_corpus

TEXTS, LABELS = make_corpus(150, seed=5)
STRANGE = [f"zzz {'qqq ' * (n % 4 + 1)}xxx {n}" for n in range(40)]


def fit(tiny_settings, texts=None, **sections):
    settings = tiny_settings(
        "bert",
        training={"method": "masker", "epochs": 2, **sections.pop("training", {})},
        keywords={"source": "frequency"},
        data={"validation_fraction": 0.4},
        detection={"calibration": "split", **sections.pop("detection", {})},
        **sections,
    )
    return MaskerClassifier.from_settings(settings).fit(*(texts or make_corpus(240)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory, tiny_settings):
    return fit(tiny_settings, training={"epochs": 4}).save(tmp_path_factory.mktemp("calibrate") / "model")


@pytest.fixture
def model(folder):
    return MaskerClassifier.load(folder)


def test_training_sets_documents_apart_and_chooses(model):
    """40 % of 240 are held out, half of them choose the checkpoint and the score, half calibrate."""
    found = model.detection_
    assert found["score"] == "auto" and found["separate"] and found["held_out"] == 48
    assert found["false_alarm_rate"] == found["promised"] == 0.05
    assert list(found["auto"]["offsets"])[:2] == ["max-logit", "knn"]
    assert {"context masked", "keywords only"} <= set(found["auto"]["evidence"]["knn"])


def test_cross_fitted_documents_all_calibrate(tiny_settings, tmp_path):
    """Each of 90 documents was scored by a network trained without it, so the rate holds for new texts."""
    settings = tiny_settings(training={"method": "vanilla", "epochs": 2})
    model = MaskerClassifier.from_settings(settings).fit(*make_corpus(90))
    found = model.detection_
    assert found["separate"] and found["held_out"] == 90 and found["promised"] == 0.05
    again = MaskerClassifier.load(model.save(tmp_path / "model"), score="max-prob", false_alarm_rate=0.1)
    assert again.detection_["held_out"] == 90 and again.detection_["promised"] == 0.1
    assert model.is_ood(TEXTS).mean() < 0.2


def test_saved_and_opened_it_says_the_same(tiny_settings, tmp_path):
    model = fit(tiny_settings)
    again = MaskerClassifier.load(model.save(tmp_path / "model"))
    assert again.predict_texts(TEXTS) == model.predict_texts(TEXTS)
    assert again.detection_ == model.detection_


def test_a_limit_on_held_out_documents(tiny_settings, model):
    limited = fit(tiny_settings, detection={"held_out": 25})
    assert limited.detection_["held_out"] == 25 and limited.detection_["separate"]
    model.calibrate(TEXTS, LABELS)
    assert model.detection_["held_out"] == len(TEXTS)


def test_without_a_calibration_share_validation_keeps_all_documents(tiny_settings):
    sections = {"data": {"calibration_share": 0.0}, "detection": {"calibration": "split"}}
    settings = tiny_settings("bert", training={"method": "vanilla", "epochs": 1}, **sections)
    model = MaskerClassifier.from_settings(settings).fit(*make_corpus(240))
    assert model.detection_["held_out"] == 24 and not model.detection_["separate"]


def test_new_texts_change_the_threshold_and_nothing_of_the_network(model, folder):
    before = model.predict_texts(TEXTS[:20])
    report = model.calibrate(TEXTS, LABELS, false_alarm_rate=0.2)
    after = model.predict_texts(TEXTS[:20])
    assert report["documents"] == report["held_out"] == 150 and report["score"] == "auto"
    assert [row.ood_score for row in after] == [row.ood_score for row in before]
    assert [row.label for row in after] == [row.label for row in before]
    # By hand: of 150 held-out scores the ceil(151 * 0.8) = 121st is the threshold.
    assert model.threshold_ == pytest.approx(np.sort(model.ood_score(TEXTS))[120])
    assert model.is_ood(TEXTS).mean() <= 0.2


def test_without_labels_the_confidence_stays(model):
    before = model.detection_["temperature"]
    assert model.calibrate(TEXTS, false_alarm_rate=0.1)["temperature"] == before
    assert model.calibrate(TEXTS, LABELS)["temperature"] != before
    assert model.detection_["false_alarm_rate"] == 0.1, "what was not given stays"
    found = model.detection_["temperature"]
    assert model.calibrate(TEXTS[:6], LABELS[:6])["temperature"] == found, "too few texts to tell another"


def test_auto_is_chosen_anew_when_asked_for(model):
    report = model.calibrate(TEXTS, LABELS, score="auto")
    assert report["held_out"] == 75 and report["auto"]["evidence"]
    with pytest.raises(DataError, match="at least 40 labelled texts"):
        model.calibrate(TEXTS[:39], LABELS[:39], score="auto")
    with pytest.raises(DataError, match="labelled"):
        model.calibrate(TEXTS, score="auto")


def test_another_score_for_good_and_for_once(model, folder):
    once = MaskerClassifier.load(folder, score="energy", false_alarm_rate=0.1)
    assert (once.detection_["score"], once.detection_["false_alarm_rate"]) == ("energy", 0.1)
    assert once.detection_["held_out"] == 48, "calibrated on the documents that the model keeps the scores of"
    assert MaskerClassifier.load(folder).detection_["score"] == "auto"
    model.calibrate(TEXTS, score="knn")
    assert model.detection_["score"] == "knn" and model.ood_score(TEXTS[:1])[0] < 2
    with pytest.raises(ConfigError, match=r"offers auto, max-prob, .*got 'enrgy'\. ?Did you mean 'energy'"):
        MaskerClassifier.load(folder, score="enrgy")
    with pytest.raises(ConfigError, match=r"removed from masker"):
        MaskerClassifier.load(folder, score="knn-mean")
    with pytest.raises(ConfigError, match=r"between 0 and 1; got 1\.5"):
        MaskerClassifier.load(folder, false_alarm_rate=1.5)


def test_statistics_of_training_texts_bring_another_score(model, tiny_settings):
    plain = fit(tiny_settings, detection={"score": "energy"})
    with pytest.raises(ModelError, match="--statistics"):
        plain.calibrate(TEXTS, score="knn-middle")
    report = plain.calibrate(TEXTS, LABELS, score="knn-middle", statistics=make_corpus(240))
    assert report["score"] == "knn-middle" and report["features"] == ["middle"]
    assert plain.calibrate(TEXTS, score="mahalanobis-middle")["score"] == "mahalanobis-middle", "others come with it"
    texts, labels = make_corpus(60)
    some = [n for n, label in enumerate(labels) if label != "food"]
    with pytest.raises(DataError, match="every class of the model needs at least one text"):
        model.calibrate(TEXTS, score="knn", statistics=([texts[n] for n in some], [labels[n] for n in some]))


def test_bad_input_leaves_the_model_as_it_was(model):
    before = model.detection_
    for call, message in (
        (lambda: model.calibrate(TEXTS, ["food"] * 149 + ["eggs"]), "label 'eggs' is not one of the model's classes"),
        (lambda: model.calibrate(TEXTS, LABELS[:-1]), "one label for each text"),
        (lambda: model.calibrate([]), "there is no text"),
        (lambda: model.calibrate(TEXTS, false_alarm_rate=2.0), "false_alarm_rate"),
        (lambda: model.calibrate(TEXTS, score="enrgy"), "score"),
        (lambda: model.set_operating_point([]), "at least one"),
    ):
        with pytest.raises((ConfigError, DataError), match=message):
            call()
    assert model.detection_ == before


def test_examples_set_the_operating_point(model):
    report = model.calibrate(TEXTS, LABELS, ood_examples=STRANGE)
    rows = report["trade_off"]
    chosen = next(row for row in rows if row["chosen"])
    assert chosen["false_alarm_rate"] == report["false_alarm_rate"] and chosen["threshold"] == report["threshold"]
    assert chosen["detected"]["value"] == pytest.approx(model.is_ood(STRANGE).mean())
    gains = [row["detected"]["value"] - row["false_alarm_rate"] for row in rows]
    assert max(gains) == pytest.approx(chosen["detected"]["value"] - chosen["false_alarm_rate"])
    capped = model.calibrate(TEXTS, LABELS, ood_examples=STRANGE, false_alarm_rate=0.02)
    assert capped["false_alarm_rate"] <= 0.02


def test_class_conditional(model):
    model.calibrate(TEXTS, LABELS, class_conditional=True, false_alarm_rate=0.1)
    own = model.classes_[np.array(model.detection_["by_class"])]
    assert len(own), "some class is predicted often enough"
    predicted, rejected = model.predict(TEXTS), model.is_ood(TEXTS)
    assert all(rejected[predicted == label].mean() <= 0.1 for label in own)
    report = model.evaluate(Documents(TEXTS, None, LABELS, "test"), resamples=5)
    assert set(report["false_alarms"]["by_predicted_class"]) == set(predicted)


def test_calibration_is_written_and_the_weights_are_not_touched(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "model")
    model = MaskerClassifier.load(copy)
    model.calibrate(TEXTS, LABELS, score="mahalanobis", class_conditional=True)
    before = (copy / "model.safetensors").stat()
    model.save_calibration(copy)
    after = (copy / "model.safetensors").stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
    assert len(list(copy.glob("masker*.safetensors"))) == 1, "what was replaced is gone"
    again = MaskerClassifier.load(copy)
    assert again.detection_ == model.detection_ and again.predict_texts(TEXTS) == model.predict_texts(TEXTS)
    assert again.keywords_ == model.keywords_


def test_systems_with_a_score_of_their_own(tiny_settings, tmp_path):
    settings = tiny_settings("bert", training={"method": "ocsvm"}, data={"validation_fraction": 0.4})
    model = MaskerClassifier.from_settings(settings).fit(*make_corpus(90))
    folder = model.save(tmp_path / "model")
    report = model.calibrate(TEXTS, LABELS, false_alarm_rate=0.1)
    assert report["score"] == "one-class-svm" and model.is_ood(TEXTS).mean() <= 0.1
    model.save_calibration(folder)
    assert MaskerClassifier.load(folder).predict_texts(TEXTS) == model.predict_texts(TEXTS)
    with pytest.raises(ConfigError, match="leave --score out"):
        model.calibrate(TEXTS, score="energy")
    with pytest.raises(ConfigError, match="has a score of its own; leave them out"):
        model.calibrate(TEXTS, statistics=make_corpus(90))
    with pytest.raises(ConfigError, match="leave --score out"):
        MaskerClassifier.load(folder, score="energy")


def test_who_asks_for_a_rate_gets_it_in_place_of_the_published_rule(tiny_settings):
    detection = {"rule": "published"}
    settings = tiny_settings("bert", training={"method": "doc", "epochs": 1}, detection=detection)
    model = MaskerClassifier.from_settings(settings).fit(*make_corpus(90))
    assert model.detection_["promised"] is None
    report = model.calibrate(TEXTS, LABELS, false_alarm_rate=0.1)
    assert report["promised"] == 0.1 and model.is_ood(TEXTS).mean() <= 0.1


def test_labels_of_any_type_calibrate_what_they_trained(tiny_settings):
    texts, names = make_corpus(90)
    settings = tiny_settings("bert", training={"method": "vanilla", "epochs": 1}, detection={"score": "max-prob"})
    model = MaskerClassifier.from_settings(settings).fit(texts, [name == "food" for name in names])
    assert model.calibrate(TEXTS, np.array(LABELS) == "food")["documents"] == len(TEXTS)


def test_no_number_is_no_answer(model):
    model.model_.backend.classifier.classifier.weight.data.fill_(float("nan"))
    with pytest.raises(ModelError, match="gives NaN in place of numbers"):
        model.predict_texts(TEXTS[:2])


def test_reject_gives_no_label(model):
    model.threshold_ = float(np.median(model.ood_score(TEXTS)))
    answers, out = model.predict(TEXTS, reject=True), model.is_ood(TEXTS)
    assert 0 < out.mean() < 1
    assert [answer is None for answer in answers] == out.tolist()
    np.testing.assert_array_equal(answers[~out], model.predict(TEXTS)[~out])
