"""MaskerClassifier keeps scikit-learn's conventions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from masker import ConfigError, DataError, MaskerClassifier, MaskerError
from masker.classifier_parameters import settings_from_parameters
from tests.conftest import make_corpus


@pytest.fixture(scope="module")
def tiny(tiny_backbones):
    def make(**parameters):
        settings = {"training": {"batch_size": 8, "learning_rate": 2e-3, "head_lr_scale": 1.0, "precision": "fp32"}}
        return MaskerClassifier(
            **{"backbone": tiny_backbones["bert"], "epochs": 2, "max_length": 48, "keywords": "frequency",
               "settings": settings, **parameters}
        )  # fmt: skip

    return make


@pytest.fixture(scope="module")
def fitted(tiny):
    return tiny(epochs=5).fit(*make_corpus(90))


def test_parameters_survive_clone(tiny):
    original = tiny(seed=3, false_alarm_rate=0.1, confidence=0.9)
    copy = clone(original)
    assert copy.get_params() == original.get_params()
    assert copy.set_params(seed=4).seed == 4


def test_parameters_of_an_opened_model_count(fitted, tmp_path):
    opened = MaskerClassifier.load(fitted.save(tmp_path / "model"))
    assert settings_from_parameters(opened) == settings_from_parameters(fitted)
    opened.set_params(seed=7, method="vanilla", false_alarm_rate=0.01)
    found = settings_from_parameters(opened)
    assert (found.training.seed, found.training.method, found.detection.false_alarm_rate) == (7, "vanilla", 0.01)


def test_confidence(fitted, tmp_path):
    folder = fitted.save(tmp_path / "model")
    texts, labels = make_corpus(90, seed=2)
    opened = MaskerClassifier.load(folder, false_alarm_rate=0.3, confidence=0.9)
    assert opened.get_params()["confidence"] == opened.detection_["confidence"] == 0.9
    assert settings_from_parameters(opened).detection.confidence == 0.9
    average = opened.calibrate(texts, labels, confidence=0)
    assert average["confidence"] is None and opened.model_.settings.detection.confidence is None
    sure = opened.calibrate(texts, labels, confidence=0.95)
    assert sure["confidence"] == 0.95 and sure["threshold"] >= average["threshold"]


def test_works_in_pipelines_and_cross_validation(tiny):
    texts, labels = make_corpus(60)
    shout = FunctionTransformer(lambda items: [text.upper() for text in items])
    pipeline = make_pipeline(shout, tiny(epochs=1)).fit(texts, labels)
    assert len(pipeline.predict(texts[:4])) == 4
    scores = cross_val_score(tiny(epochs=1), texts, labels, cv=2, error_score="raise")
    assert len(scores) == 2


def test_predict_proba_goes_with_classes(fitted):
    texts, _ = make_corpus(10, seed=1)
    probabilities = fitted.predict_proba(texts)
    assert probabilities.shape == (10, 3)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    np.testing.assert_array_equal(fitted.predict(texts), fitted.classes_[probabilities.argmax(axis=1)])
    assert fitted.classes_.tolist() == ["food", "space", "sport"]


def test_multi_class_probabilities_sum_to_one(tiny):
    texts, labels = make_corpus(45)
    model = tiny(head="multi-class", epochs=1).fit(texts, labels)
    np.testing.assert_allclose(model.predict_proba(texts).sum(axis=1), 1.0)


def test_scores_decisions_and_predictions_agree(fitted):
    texts, _ = make_corpus(20, seed=2)
    answers = fitted.predict_texts(texts)
    np.testing.assert_allclose([answer.ood_score for answer in answers], fitted.ood_score(texts))
    assert [answer.is_ood for answer in answers] == fitted.is_ood(texts).tolist()
    assert [answer.is_ood for answer in answers] == [answer.ood_score > fitted.threshold_ for answer in answers]


def test_stream_equals_batch_and_is_lazy(fitted, monkeypatch):
    monkeypatch.setattr("masker.documents.texts.STREAM_CHUNK", 4)
    texts, _ = make_corpus(10, seed=2)
    seen = []

    def source():
        for text in texts:
            seen.append(text)
            yield text

    stream = fitted.predict_stream(source())
    first = next(stream)
    assert len(seen) == 4
    rest = list(stream)
    expected = fitted.predict_texts(texts)
    assert [answer.label for answer in [first, *rest]] == [answer.label for answer in expected]
    np.testing.assert_allclose(
        [answer.ood_score for answer in [first, *rest]], [answer.ood_score for answer in expected], rtol=1e-4
    )


def test_order_and_batching_do_not_change_an_answer(fitted):
    texts, _ = make_corpus(30, seed=6)
    together = fitted.doc_logits(texts)
    alone = np.concatenate([fitted.doc_logits([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_labels_keep_their_type(tiny):
    texts, labels = make_corpus(45)
    numbers = [{"space": 10, "food": 9, "sport": 2}[label] for label in labels]
    model = tiny(epochs=1).fit(texts, numbers)
    assert model.classes_.tolist() == [2, 9, 10]
    assert model.predict(texts[:3]).dtype.kind == "i"
    assert isinstance(model.predict_texts(texts[:1])[0].label, int)


def test_labels_keep_their_type_over_save_and_load(tiny, tmp_path):
    texts, labels = make_corpus(45)
    model = tiny(epochs=1).fit(texts, [{"space": 10, "food": 9, "sport": 2}[label] for label in labels])
    again = MaskerClassifier.load(model.save(tmp_path / "m"))
    assert again.classes_.tolist() == [2, 9, 10]


@pytest.mark.parametrize(
    ("values", "expected"), [((False, True), [False, True]), ((2.0, 0.5), [0.5, 2.0]), ((1, "1b"), ["1", "1b"])]
)
def test_labels_of_other_types(tiny, values, expected):
    texts, labels = make_corpus(30)
    model = tiny(epochs=1, method="vanilla").fit(texts, [values[label == "food"] for label in labels])
    assert model.classes_.tolist() == expected
    assert type(model.predict_texts(texts[:1])[0].label) is type(expected[0])


@pytest.mark.parametrize("missing", [None, float("nan"), "", "nan"])
def test_a_missing_label_is_no_class(tiny, missing):
    with pytest.raises(DataError, match=r"fit: 1 row has no label \(line 2\)"):
        tiny().fit(["bread", "soup", "goal"], ["a", missing, "b"])


def test_pairs_are_tuples(tiny):
    texts, labels = make_corpus(45)
    pairs = list(zip(texts, reversed(texts), strict=True))
    model = tiny(epochs=1).fit(pairs, labels)
    assert len(model.predict(pairs[:2])) == 2


def test_empty_input_gives_empty_output(fitted):
    assert fitted.predict_texts([]) == []
    assert fitted.predict_proba([]).shape == (0, 3)


def test_threshold_follows_the_false_alarm_rate(tiny):
    texts, labels = make_corpus(120)
    loose, strict = (tiny(false_alarm_rate=rate, epochs=1).fit(texts, labels).threshold_ for rate in (0.5, 0.01))
    assert loose < strict


def test_save_refuses_to_overwrite_and_can_be_told_to(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    with pytest.raises(ConfigError, match="already exists"):
        fitted.save(tmp_path / "model")
    fitted.save(tmp_path / "model", overwrite=True)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("years of work")
    with pytest.raises(MaskerError):
        fitted.save(tmp_path / "precious", overwrite=True)
    assert (tmp_path / "precious" / "thesis.txt").exists()


def test_bfloat16_backend_says_nearly_the_same_and_does_not_save(fitted, tmp_path):
    from masker import ModelError

    half = MaskerClassifier.load(fitted.save(tmp_path / "m"), backend="torch-bf16")
    texts, _ = make_corpus(40, seed=7)
    np.testing.assert_allclose(half.predict_proba(texts), fitted.predict_proba(texts), atol=0.05)
    assert not np.array_equal(half.doc_logits(texts), fitted.doc_logits(texts))
    with pytest.raises(ModelError, match="backend='torch'"):
        half.save(tmp_path / "again")


def test_misuse_is_told_in_one_line(tiny, fitted):
    with pytest.raises(MaskerError, match="not trained"):
        tiny().predict(["text"])
    with pytest.raises(DataError, match="one label for each text"):
        tiny().fit(["a", "b"], ["x"])
    with pytest.raises(DataError, match="put it into a list"):
        fitted.predict("one string")
    with pytest.raises(DataError, match="must be strings"):
        fitted.predict(["text", None])
    with pytest.raises(ConfigError, match="head"):
        tiny(head="softmax").fit(*make_corpus(9))


def test_own_keywords_from_a_file(tiny, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("rocket\nbread\ngoal\n")
    model = tiny(keywords=str(words), epochs=1).fit(*make_corpus(45))
    assert model.keywords_.words == ["rocket", "bread", "goal"]


def test_an_opened_classifier_keeps_the_device_and_takes_score_and_rate_by_place(fitted, tmp_path):
    opened = MaskerClassifier.load(fitted.save(tmp_path / "model"), "torch", "energy", 0.2, device="cpu")
    assert (opened.detection_["score"], opened.detection_["false_alarm_rate"]) == ("energy", 0.2)
    assert opened.get_params()["device"] == "cpu" and not opened.is_regression
