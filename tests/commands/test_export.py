"""The library function behind ``masker export``."""

from __future__ import annotations

import json
import shutil

import pytest

from masker import ConfigError, MaskerClassifier
from masker.commands.export import export_model
from masker.config import DataSettings
from tests.conftest import make_corpus


@pytest.fixture
def files(tmp_path):
    """A labelled test file and a file of unrelated texts."""
    texts, labels = make_corpus(12, seed=1)
    rows = [{"body": text, "topic": label} for text, label in zip(texts, labels, strict=True)]
    (tmp_path / "test.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "other.jsonl").write_text("\n".join(json.dumps({"body": f"zzz qqq {n}"}) for n in range(8)))
    return tmp_path


COLUMNS = DataSettings(text_column="body", label_column="topic")


def test_without_texts_nothing_is_compared(shard_model, tmp_path):
    report = export_model(shard_model, output=tmp_path / "served")
    assert list(report.files) == ["onnx"]
    assert report.agreement is None
    assert not (shard_model / "onnx").exists()
    MaskerClassifier.load(report.folder)


def test_texts_are_read_and_compared(shard_model, files):
    folder = shutil.copytree(shard_model, files / "model")
    test, other = str(files / "test.jsonl"), str(files / "other.jsonl")
    report = export_model(str(folder), int8=True, check=test, ood=[other], data_settings=COLUMNS)
    assert report.folder == folder
    assert list(report.agreement["documents"].values()) == [12, 8]
    assert list(report.agreement["backends"]) == ["torch", "onnx", "onnx-int8"]
    assert report.agreement["backends"]["onnx"]["label_agreement"] == 1.0
    assert list(report.agreement["backends"]["onnx"]["auroc"]) == ["other"]


def test_settings_of_the_reading_apply(shard_model, files):
    settings = COLUMNS.model_copy(update={"limit": 5})
    report = export_model(shard_model, output=files / "served", check=str(files / "test.jsonl"), data_settings=settings)
    assert list(report.agreement["documents"].values()) == [5]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ood": ["other.jsonl"]}, "--ood .*--check FILE"),
        ({"data_settings": COLUMNS}, "columns and rows .*--check FILE"),
    ],
)
def test_options_that_need_texts(shard_model, tmp_path, options, words):
    with pytest.raises(ConfigError, match=words):
        export_model(shard_model, output=tmp_path / "served", **options)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_output_is_refused(shard_model, files):
    with pytest.raises(ConfigError, match="already exists"):
        export_model(shard_model, output=files)
