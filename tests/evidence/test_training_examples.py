"""Training texts that a model keeps."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from masker import ConfigError, Documents, Model, ModelError
from masker.evidence import TrainingExamples, choose_examples, find_evidence, open_examples
from masker.evidence.training_examples import FILE, LONGEST
from tests.conftest import make_corpus
from tests.evidence.conftest import FIXTURES

TEXTS, LABELS = make_corpus(30, seed=2)
DOCUMENTS = Documents(TEXTS, None, LABELS, "made up")


def test_nearest_by_angle():
    """The angles to (1, 0) have the cosines 0.6, 1 and 0; a vector of length 0 is similar to nothing."""
    vectors = np.array([[3, 4], [2, 0], [0, 1], [0, 0]], dtype=np.float32)
    examples = TrainingExamples(["a", "b", "c", "d"], None, [1, 2, 3, 4], vectors)
    found = examples.nearest(np.array([1.0, 0.0]), 2)
    assert [(one.text, one.pair, one.label) for one in found] == [("b", None, 2), ("a", None, 1)]
    assert [one.similarity for one in found] == pytest.approx([1.0, 0.6])
    assert examples.nearest(np.zeros(2), 4)[0].similarity == 0.0


def test_classes_take_turns(model):
    kept = choose_examples(model, DOCUMENTS, 6)
    assert sorted(kept.labels) == ["food", "food", "space", "space", "sport", "sport"]
    assert set(kept.texts) <= set(TEXTS) and len(kept.vectors) == 6
    assert len(choose_examples(model, DOCUMENTS, 1000).texts) == 30


def test_a_training_text_is_nearest_to_itself(model):
    kept = choose_examples(model, DOCUMENTS, 30)
    found = find_evidence(model, TEXTS[4], kept).examples
    assert found[0].text == TEXTS[4] and found[0].similarity == pytest.approx(1.0, abs=1e-4) and len(found) == 3
    assert find_evidence(model, TEXTS[4]).examples is None


def test_labels_have_the_users_type_and_texts_an_end(model):
    numbers = replace(model, classes=["1", "2", "3"], label_type="int")
    long = Documents([f"soup {'x' * 5000}", "moon"], None, ["1", "3"], "made up")
    kept = choose_examples(numbers, long, 2)
    assert kept.labels == [1, 3] and [len(text) for text in kept.texts] == [LONGEST, 4]


def test_saved_and_opened(model, tmp_path):
    assert open_examples(tmp_path) is None
    kept = choose_examples(model, DOCUMENTS, 5)
    kept.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    opened = open_examples(tmp_path)
    assert (opened.texts, opened.pairs, opened.labels) == (kept.texts, None, kept.labels)
    assert np.array_equal(opened.vectors, kept.vectors)


def test_damaged_examples_are_named(tmp_path):
    (tmp_path / FILE).write_bytes(b"no tensors")
    with pytest.raises(ModelError, match=r"the examples in .* are damaged .*; delete the file, or train again"):
        open_examples(tmp_path)
    odd = TrainingExamples(["a"], None, ["b"], np.zeros((2, 3), dtype=np.float32))
    odd.save(tmp_path)
    with pytest.raises(ModelError, match="differ in number"):
        open_examples(tmp_path)


def test_a_linear_classifier_keeps_none():
    linear = Model.open(FIXTURES / "linear-roberta", device="cpu")
    with pytest.raises(ConfigError, match="method linear has no network to compare texts with; leave --keep-examples"):
        choose_examples(linear, DOCUMENTS, 5)


def test_they_go_over_the_wire(model):
    content = find_evidence(model, TEXTS[0], choose_examples(model, DOCUMENTS, 4)).as_dict()
    assert set(json.loads(json.dumps(content))["examples"][0]) == {"text", "pair", "label", "similarity"}
