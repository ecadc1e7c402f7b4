"""The evidence for an answer, compared with the answers to the same texts written without their words."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest

from masker import DataError, Model
from masker.documents.encoding import Encoded
from masker.evidence import find_evidence
from masker.evidence.finding import FEWEST_PARTS, MOST_PARTS, cosines
from tests.evidence.conftest import FIXTURES

TEXT = "we found a rocket near the garlic near the planet"


def text_of(part, text=TEXT) -> list[str]:
    return [text[start:end] for _, start, end in part.spans]


def same(one, other) -> bool:
    """Whether two predictions differ by rounding only."""
    rounded = one.confidence == pytest.approx(other.confidence, abs=1e-5)
    return rounded and (one.label, one.is_ood, one.p_value) == (other.label, other.is_ood, other.p_value)


def test_a_part_is_what_dropping_the_word_changes(model):
    found = find_evidence(model, TEXT)
    assert same(found.prediction, model.predict([TEXT])[0]) and found.single_words
    assert [text_of(part) for part in found.parts][4:6] == [["near", "near"], ["the", "the"]]
    whole = model.judge([TEXT])
    for part in found.parts:
        rest = " ".join(word for word in TEXT.split() if word not in text_of(part))
        judged = model.judge([rest])
        label = whole.predicted[0]
        assert part.support == pytest.approx(whole.probabilities[0, label] - judged.probabilities[0, label], abs=1e-5)
        assert part.strangeness == pytest.approx(whole.scores[0] - judged.scores[0], rel=1e-4, abs=1e-4)
        assert (part.label, part.is_ood) == (model.labels[judged.predicted[0]], bool(judged.rejected[0]))


def test_keywords_are_masked_and_left_alone(model):
    """x~ is the text with [MASK] for keywords; x^ has all context dropped, as the model was trained."""
    text = "rocket qqq soup"
    found = find_evidence(model, text).keywords
    assert found.source == "attention" and [text[start:end] for _, start, end in found.spans] == ["rocket", "soup"]
    assert same(found.masked, model.predict(["[MASK] qqq [MASK]"])[0])
    assert same(found.only, model.predict(["rocket soup"])[0])


def test_a_text_without_keywords_has_no_answers_for_them(model):
    found = find_evidence(model, "qqq").keywords
    assert (found.spans, found.masked, found.only) == ([], None, None)


def test_a_model_without_keywords_and_means():
    model = Model.open(FIXTURES / "linear-roberta", device="cpu")
    found = find_evidence(model, TEXT)
    assert found.keywords is None and found.nearest.by == "probability"
    assert found.nearest.classes[0] == (found.prediction.label, found.prediction.confidence)
    assert max(found.parts, key=lambda part: part.support).support > 0


def test_nearest_classes_by_their_means(model):
    found = find_evidence(model, "the soup with garlic and cheese").nearest
    assert found.by == "class means" and found.classes[0][0] == "food"
    assert sorted(label for label, _ in found.classes) == model.labels
    values = [value for _, value in found.classes]
    assert values == sorted(values, reverse=True) and max(np.abs(values)) <= 1.0


def test_cosines():
    """(3, 4) and (1, 0) have the cosine 3 / 5; a zero vector has none."""
    assert cosines(np.array([3.0, 4.0]), np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])).tolist() == [0.6, 0.8, 0.0]


def test_a_long_text_is_dropped_in_runs(windowed):
    words = [f"rocket{number}" for number in range(400)]
    found = find_evidence(windowed, " ".join(words))
    assert not found.single_words and FEWEST_PARTS <= len(found.parts) <= MOST_PARTS
    assert all(len(part.spans) == 1 for part in found.parts)
    covered = " ".join(" ".join(words)[part.spans[0][1] : part.spans[0][2]] for part in found.parts)
    assert covered == " ".join(words) and found.read_to == [len(covered)]


def test_windows_that_stay_as_they_are_are_computed_once(windowed, monkeypatch):
    """Dropping each of 8 words in windows of 6 costs less than 8 readings, and pools as reading the rest does."""
    text = "rocket moon soup garlic coach league bread goal"
    rows = []
    predict = type(windowed.backend).predict_outputs

    def counted(backend, encoded, *args):
        rows.append(len(encoded))
        return predict(backend, encoded, *args)

    monkeypatch.setattr(type(windowed.backend), "predict_outputs", counted)
    found = find_evidence(windowed, text)
    windows = len(windowed.encode([text]))
    assert windows == 2 and found.single_words and len(found.parts) == 8
    assert rows[0] < (1 + 8 + 2) * windows
    whole, label = windowed.judge([text]), windowed.judge([text]).predicted[0]
    # The first word is in the first window alone. A shorter text would be cut elsewhere, so the token is taken out.
    first, second = windowed.encode([text]).input_ids
    left = Encoded([np.delete(first, 1), second], [np.zeros_like(first)[1:], np.zeros_like(second)], None, np.arange(2))
    probabilities = windowed.detector.probabilities(windowed.backend.predict_logits(left).mean(axis=0, keepdims=True))
    assert found.parts[0].support == pytest.approx(whole.probabilities[0, label] - probabilities[0, label], abs=1e-5)


def test_what_is_cut_off_is_said(model):
    text = " ".join(["rocket"] * 100)
    assert find_evidence(model, text).read_to == [46 * 7 - 1], "48 tokens, two of them special"


@pytest.mark.parametrize("text", ["", "?!", "💥 rocket"])
def test_texts_without_ordinary_words(model, text):
    found = find_evidence(model, text)
    assert same(found.prediction, model.predict([text])[0])
    assert [text[start:end] for part in found.parts for _, start, end in part.spans] == text.split()[1:]


def test_pairs(model):
    pairs = replace(model, pairs=True)
    found = find_evidence(pairs, ("the rocket", "the soup"))
    assert [part.spans for part in found.parts] == [[(0, 0, 3), (1, 0, 3)], [(0, 4, 10)], [(1, 4, 8)]]
    with pytest.raises(DataError, match="trained on pairs"):
        find_evidence(pairs, "the rocket")
    with pytest.raises(DataError, match="trained on single texts"):
        find_evidence(model, ("the rocket", "the soup"))


def test_a_regression_has_numbers_instead_of_probabilities(model):
    number = replace(model, detector=None)
    found = find_evidence(number, TEXT)
    assert found.nearest is None and found.prediction.confidence is None
    whole, without = (float(model.outputs([text]).logits[0, 0]) for text in (TEXT, TEXT.replace("rocket ", "")))
    assert found.parts[3].support == pytest.approx(whole - without, abs=1e-5) and found.parts[3].strangeness is None


def test_onnx_gives_the_same_evidence(model, tmp_path):
    from masker.export import export_onnx

    folder = shutil.copytree(FIXTURES / "masker-bert", tmp_path / "model")
    export_onnx(folder)
    found, expected = find_evidence(Model.open(folder, backend="onnx"), TEXT), find_evidence(model, TEXT)
    assert [part.spans for part in found.parts] == [part.spans for part in expected.parts]
    assert [part.support for part in found.parts] == pytest.approx([part.support for part in expected.parts], abs=1e-4)
    assert found.keywords.only.confidence == pytest.approx(expected.keywords.only.confidence, abs=1e-4)
