from __future__ import annotations

import pytest

from masker.corpora import find_corpus, import_corpus
from masker.corpora.intent_folders import intent_files, read_intents
from masker.errors import DataError
from tests.corpora.conftest import read

TEXTS = {"train": ["Play Jazz ", "is it raining", ""], "valid": ["stop"], "test": ["will it snow"]}
INTENTS = {"train": ["play", "weather", "play"], "valid": ["play"], "test": ["weather"]}


@pytest.fixture
def checkout(tmp_path):
    for split, texts in TEXTS.items():
        folder = tmp_path / "checkout" / "Datasets" / "SNIPS" / split
        folder.mkdir(parents=True)
        (folder / "seq.in").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        (folder / "label").write_text("".join(f"{intent}\n" for intent in INTENTS[split]), encoding="utf-8")
    return tmp_path / "checkout"


def test_official_splits_in_lower_case(checkout):
    assert read_intents(checkout, "SNIPS") == {
        "train": [{"text": "play jazz", "label": "play"}, {"text": "is it raining", "label": "weather"}],
        "dev": [{"text": "stop", "label": "play"}],
        "test": [{"text": "will it snow", "label": "weather"}],
    }


@pytest.mark.usefixtures("cache")
def test_stored_under_its_name_with_a_warning_about_its_size(checkout, caplog):
    import_corpus("snips", checkout)
    assert read("snips:dev").texts == ["stop"]
    assert find_corpus("snips").location.startswith("cache (folder checkout (sha256 ")
    assert "where 13,084 and 700 and 700 are known" in caplog.records[0].message


def test_texts_and_intents_must_match(checkout):
    intent_files(checkout, "SNIPS")[1].write_text("play\n")
    with pytest.raises(DataError, match=r"train/seq\.in has 3 lines, label has 1"):
        read_intents(checkout, "SNIPS")
    with pytest.raises(OSError, match="No such file"):
        read_intents(checkout, "ATIS")
