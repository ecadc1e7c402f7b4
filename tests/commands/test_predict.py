"""Rows of a source, a chunk at a time, in order."""

from __future__ import annotations

import csv
import json

import pytest

from masker import ConfigError, DataError, Model
from masker.commands import predict as module
from masker.commands.predict import open_with_options, predict, predict_source
from masker.commands.predict_options import PredictOptions
from masker.config import DataSettings
from masker.detection.prediction import Prediction
from tests.cli.command_line import write_jsonl
from tests.conftest import make_corpus


class FakeModel:
    """Answers the number of words, and remembers how many texts came at once."""

    def __init__(self):
        self.chunks: list[list] = []

    def predict(self, texts, advance=None):
        self.chunks.append(list(texts))
        if advance is not None:
            advance(len(texts))
        return [Prediction(str(len(str(text).split())), 0.5, 0.25, 1.5, "ood" in text) for text in texts]


@pytest.fixture
def rows(tmp_path):
    return str(write_jsonl(tmp_path / "in.jsonl", ["one", "two words", "ood in it", "one more é"]))


def predicted(model, data, tmp_path, settings=None, advance=None, one_of_many=False, **options):
    out = tmp_path / "out"
    count = predict_source(
        model, data, settings or DataSettings(), PredictOptions(**options), output=str(out), advance=advance,
        one_of_many=one_of_many,
    )  # fmt: skip
    return count, out.read_text(encoding="utf-8")


def test_one_line_a_row(rows, tmp_path):
    count, text = predicted(FakeModel(), rows, tmp_path)
    assert count == 4
    first = {"label": "1", "confidence": 0.5, "p_value": 0.25, "ood_score": 1.5, "is_ood": False}
    lines = [json.loads(line) for line in text.splitlines()]
    assert lines[0] == first and [line["label"] for line in lines] == ["1", "2", "3", "3"]


def test_chunks_bound_the_memory_and_keep_the_order(rows, tmp_path, monkeypatch):
    monkeypatch.setattr("masker.documents.texts.STREAM_CHUNK", 3)
    model, done = FakeModel(), []
    _, text = predicted(model, rows, tmp_path, advance=done.append, with_text=True)
    assert [len(chunk) for chunk in model.chunks] == [3, 1] and done == [3, 1]
    assert [json.loads(line)["text"] for line in text.splitlines()] == [
        text for chunk in model.chunks for text in chunk
    ]
    assert "é" in text, "texts are written as they are read"


def test_csv_has_a_header_once(rows, tmp_path, monkeypatch):
    monkeypatch.setattr("masker.documents.texts.STREAM_CHUNK", 3)
    _, text = predicted(FakeModel(), rows, tmp_path, form="csv", with_text=True)
    lines = list(csv.reader(text.splitlines()))
    assert lines[0] == ["text", "label", "confidence", "p_value", "ood_score", "is_ood"] and len(lines) == 5


def test_reject_takes_the_label_away(rows, tmp_path):
    _, text = predicted(FakeModel(), rows, tmp_path, reject=True)
    assert [json.loads(line)["label"] for line in text.splitlines()] == ["1", "2", None, "3"]


def test_pairs_go_in_as_pairs_and_are_repeated(tmp_path):
    data = str(write_jsonl(tmp_path / "pairs.jsonl", ["a"], None, ["b c"]))
    model = FakeModel()
    _, text = predicted(model, data, tmp_path, with_text=True)
    assert model.chunks == [[("a", "b c")]]
    assert list(json.loads(text))[:2] == ["text", "text_pair"]


def test_limit_and_empty_rows(tmp_path):
    data = str(write_jsonl(tmp_path / "in.jsonl", ["a", " ", "b", "c"]))
    count, _ = predicted(FakeModel(), data, tmp_path, DataSettings(skip_invalid=True, limit=2))
    assert count == 2
    model = FakeModel()
    predicted(model, data, tmp_path, DataSettings(skip_invalid=True))
    assert model.chunks == [["a", "b", "c"]]


def test_a_file_among_others_may_be_empty(tmp_path):
    data = tmp_path / "in.jsonl"
    data.write_text("")
    assert predicted(FakeModel(), str(data), tmp_path, one_of_many=True) == (0, "")
    with pytest.raises(DataError):
        predicted(FakeModel(), str(data), tmp_path)


def test_an_error_leaves_no_half_a_file(tmp_path):
    data = tmp_path / "in.jsonl"
    data.write_text('{"text": "fine"}\n{oops\n')
    with pytest.raises(DataError, match=r"in\.jsonl"):
        predicted(FakeModel(), str(data), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_the_output_is_checked_before_the_model_is_opened(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "open_with_options", lambda *args: pytest.fail("opened"))
    with pytest.raises(ConfigError, match="is a folder; name a file in it"):
        predict("model", rows, DataSettings(), PredictOptions(), output=str(tmp_path))


def test_options_reach_the_model(monkeypatch):
    asked = []

    def opened(*args):
        asked.append(args)
        return type("Opened", (), {"is_regression": True})()

    monkeypatch.setattr(Model, "open", opened)
    options = PredictOptions(
        backend="torch-bf16", device="cuda:1", score="energy", false_alarm_rate=0.1, confidence=0.9, missed_rate=0.2
    )
    open_with_options("folder", options)
    assert asked == [("folder", "torch-bf16", "cuda:1", "energy", 0.1, 0.9, 0.2)]
    with pytest.raises(ConfigError, match="leave --reject out"):
        open_with_options("folder", PredictOptions(reject=True))


def test_a_whole_file(shard_model, tmp_path):
    """What is written for a file is what the model answers."""
    texts, _ = make_corpus(9, seed=3)
    data = str(write_jsonl(tmp_path / "in.jsonl", texts))
    assert predict(str(shard_model), data, DataSettings(), PredictOptions(device="cpu"), str(tmp_path / "out")) == 9
    expected = [answer.as_dict() for answer in Model.open(shard_model, device="cpu").predict(texts)]
    assert [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()] == expected
