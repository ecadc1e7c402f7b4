"""Documents of a run: split, indexed, tokenized."""

from __future__ import annotations

import numpy as np
import pytest

from masker import ConfigError, DataError, Documents
from masker.modeling.backbone import load_tokenizer
from masker.training.training_data import encode_training_data
from tests.conftest import make_corpus

CLASSES = ["food", "space", "sport"]
SPLIT = {"calibration": "split"}


@pytest.fixture(scope="module")
def tokenizer(tiny_backbones):
    return load_tokenizer(tiny_backbones["bert"])


def encoded(documents, classes, settings, tokenizer, max_length=32):
    return encode_training_data(documents, classes, settings, tokenizer, max_length)


def words(tokenizer, rows):
    return [tokenizer.decode(ids, skip_special_tokens=True) for ids in rows.input_ids]


def test_few_documents_are_not_split_further(tiny_settings, tokenizer):
    """A tenth of 60 is 6 held-out documents: half of them would promise nothing."""
    texts, labels = make_corpus(60)
    data = encoded(Documents(texts, None, labels, "made up"), CLASSES, tiny_settings(detection=SPLIT), tokenizer)
    assert (len(data.train), len(data.validation), data.calibration) == (54, 6, None)
    found = dict(zip(words(tokenizer, data.train) + words(tokenizer, data.validation),
                     [*data.train.labels, *data.validation.labels], strict=True))  # fmt: skip
    expected = {text: CLASSES.index(label) for text, label in zip(texts, labels, strict=True)}
    assert found == expected, "every document once, with the index of its class"
    assert np.bincount(data.validation.labels).tolist() == [2, 2, 2], "stratified"


@pytest.mark.parametrize(("count", "split"), [(98, False), (100, True)])
def test_enough_documents_calibrate(tiny_settings, tokenizer, count, split):
    """40 % of 100 are 40, and half of them 20: enough for a promise of 5 %. Of 98 they are 39 and 19.5."""
    texts, labels = make_corpus(count)
    settings = tiny_settings(data={"validation_fraction": 0.4}, detection=SPLIT)
    data = encoded(Documents(texts, None, labels, "made up"), CLASSES, settings, tokenizer)
    assert (data.calibration is not None) == (round(count * 0.4) * 0.5 >= 19.5)
    parts = [data.train, data.validation, *([] if data.calibration is None else [data.calibration])]
    rows = [text for part in parts for text in words(tokenizer, part)]
    assert sorted(rows) == sorted(texts), "no document in two parts"
    if split:
        assert (len(data.validation), len(data.calibration)) == (20, 20)


def test_classes_with_one_held_out_document_calibrate_too(tiny_settings, tokenizer):
    """A tenth of 60 classes of 10 is one document each: half of them calibrate."""
    texts, _ = make_corpus(600)
    classes = sorted(f"class {place}" for place in range(60))
    labels = [classes[row % 60] for row in range(600)]
    data = encoded(Documents(texts, None, labels, "made up"), classes, tiny_settings(detection=SPLIT), tokenizer)
    assert (len(data.train), len(data.validation), len(data.calibration)) == (540, 30, 30)
    assert len({*data.validation.labels.tolist(), *data.calibration.labels.tolist()}) == 60


def test_calibration_can_be_switched_off(tiny_settings, tokenizer):
    texts, labels = make_corpus(100)
    settings = tiny_settings(data={"validation_fraction": 0.4, "calibration_share": 0.0}, detection=SPLIT)
    data = encoded(Documents(texts, None, labels, "made up"), CLASSES, settings, tokenizer)
    assert data.calibration is None and len(data.validation) == 40


def test_regression_keeps_its_numbers_and_needs_no_calibration(tiny_settings, tokenizer):
    texts, _ = make_corpus(100)
    scores = [float(n) for n in range(100)]
    settings = tiny_settings(model={"head": "regression"}, data={"validation_fraction": 0.5})
    data = encoded(Documents(texts, None, scores, "scores"), [], settings, tokenizer)
    assert data.calibration is None
    assert data.train.labels.dtype == np.float32
    assert sorted([*data.train.labels, *data.validation.labels]) == scores


def test_windows_keep_the_label_of_their_document(tiny_settings, tokenizer):
    texts, labels = make_corpus(30)
    long = [f"{text} {text} {text}" for text in texts]
    settings = tiny_settings(model={"long_documents": "windows", "max_length": 16}, detection=SPLIT)
    data = encoded(Documents(long, None, labels, "long"), CLASSES, settings, tokenizer, max_length=16)
    assert len(data.train) > 27 and data.train.document.max() == 26
    assert max(data.train.lengths) <= 16
    for document in range(27):
        assert len(set(data.train.labels[data.train.document == document])) == 1


def test_same_seed_same_split(tiny_settings, tokenizer):
    texts, labels = make_corpus(60)
    documents = Documents(texts, None, labels, "made up")
    one, same = (encoded(documents, CLASSES, tiny_settings(detection=SPLIT), tokenizer) for _ in range(2))
    other = encoded(documents, CLASSES, tiny_settings(training={"seed": 1}, detection=SPLIT), tokenizer)
    assert words(tokenizer, one.validation) == words(tokenizer, same.validation)
    assert words(tokenizer, one.validation) != words(tokenizer, other.validation)


def test_few_documents_are_dealt_into_folds(tiny_settings, tokenizer):
    """All train: 20 of each class, four in each of five folds."""
    texts, labels = make_corpus(60)
    data = encoded(Documents(texts, None, labels, "made up"), CLASSES, tiny_settings(), tokenizer)
    assert words(tokenizer, data.train) == texts and len(data.validation) == 0 and data.calibration is None
    assert data.train.labels.tolist() == [CLASSES.index(label) for label in labels]
    table = np.zeros((5, 3), dtype=int)
    np.add.at(table, (data.folds, data.train.labels), 1)
    assert (table == 4).all()
    part = data.without_fold(2)
    assert words(tokenizer, part.validation) == [
        text for text, fold in zip(texts, data.folds, strict=True) if fold == 2
    ]
    assert sorted(words(tokenizer, part.train) + words(tokenizer, part.validation)) == sorted(texts)
    assert part.folds is None


def test_no_more_folds_than_documents_of_a_class(tiny_settings, tokenizer):
    documents = Documents(["moon", "soup", "orbit", "bread", "rocket"], None, ["a", "b", "a", "b", "a"], "few")
    data = encoded(documents, ["a", "b"], tiny_settings(), tokenizer)
    assert sorted(np.bincount(data.folds)) == [1, 2, 2]


def test_windows_of_a_document_share_its_fold(tiny_settings, tokenizer):
    texts, labels = make_corpus(30)
    long = [f"{text} {text} {text}" for text in texts]
    settings = tiny_settings(model={"long_documents": "windows", "max_length": 16})
    data = encoded(Documents(long, None, labels, "long"), CLASSES, settings, tokenizer, max_length=16)
    assert len(data.folds) == 30 < len(data.train)
    part = data.without_fold(0)
    assert len(part.train) + len(part.validation) == len(data.train)
    assert part.validation.document.max() + 1 == (data.folds == 0).sum()


@pytest.mark.parametrize("calibration", ["auto", "split"])
def test_nothing_to_hold_out_is_refused(tiny_settings, tokenizer, calibration):
    documents = Documents(["moon", "soup"], None, ["a", "b"], "each class once")
    with pytest.raises(DataError, match="no document can be held out for validation; give at least two documents"):
        encoded(documents, ["a", "b"], tiny_settings(detection={"calibration": calibration}), tokenizer)


def test_nothing_need_be_held_out(tiny_settings, tokenizer):
    texts, labels = make_corpus(30)
    wanted = {"data": {"validation_fraction": 0.0}, "detection": {**SPLIT, "score": "max-prob"}}
    data = encoded(Documents(texts, None, labels, "made up"), CLASSES, tiny_settings(**wanted), tokenizer)
    assert words(tokenizer, data.train) == texts
    assert (len(data.validation), data.calibration, data.folds) == (0, None, None)


def test_auto_is_chosen_on_held_out_documents(tiny_settings, tokenizer):
    texts, labels = make_corpus(30)
    documents, nothing = Documents(texts, None, labels, "made up"), {"validation_fraction": 0.0}
    with pytest.raises(ConfigError, match=r"data.validation_fraction=0 holds none out; name a score"):
        encoded(documents, CLASSES, tiny_settings(data=nothing, detection=SPLIT), tokenizer)
    folds = encoded(documents, CLASSES, tiny_settings(data=nothing), tokenizer)
    assert folds.folds is not None, "cross-fitting holds nothing out anyway"
    doc = tiny_settings(data=nothing, detection=SPLIT, training={"method": "doc"})
    assert len(encoded(documents, CLASSES, doc, tokenizer).train) == 30, "it has a score of its own"


def test_lists_of_labels_are_flags_and_held_out_at_random(tiny_settings, tokenizer):
    """A label on one document only may be held out, too: the promise is about all documents."""
    texts, _ = make_corpus(200)
    lists = [["food", "space"], [], *([["space"]] * 197), ["sport"]]
    alone = set()
    for seed in range(30):
        settings = tiny_settings(model={"head": "multi-label"}, detection=SPLIT, training={"seed": seed})
        data = encoded(Documents(texts, None, lists, "made up"), CLASSES, settings, tokenizer)
        assert data.train.labels.shape == (180, 3)
        assert data.calibration is None and len(data.validation) == 20
        assert data.train.labels.sum() + data.validation.labels.sum() == 200
        alone |= {"train" if data.train.labels[:, 2].any() else "held out"}
    assert alone == {"train", "held out"}
