import gzip
import json

import pytest

from masker.config import DataSettings
from masker.corpora import fetch_corpus, find_corpus, import_corpus
from masker.documents import read_documents
from masker.errors import DataError


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """A MASKER_DATA folder, and an empty cache beside it."""
    monkeypatch.setenv("MASKER_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def read(source):
    return read_documents(source, DataSettings(), require_labels=True)


def electronics(classes=3, each=10):
    return {
        "X": [f"{name} {i}" for name in range(classes) for i in range(each)],
        "y": [name for name in range(classes) for _ in range(each)],
        "target_names": [f"Kind{name}" for name in range(classes)],
    }


def test_electronics_are_cut_seventy_to_thirty_within_each_class(folder):
    """Three kinds of ten reviews: seven of each to train on, three to test."""
    (folder / "50EleReviews.json").write_text(json.dumps(electronics()))
    assert find_corpus("amazon50").location == "MASKER_DATA (50EleReviews.json)"
    train, test = read("amazon50:train"), read("amazon50:test")
    for kind in ("Kind0", "Kind1", "Kind2"):
        assert (train.labels.count(kind), test.labels.count(kind)) == (7, 3)
    assert all(label == f"Kind{text.split()[0]}" for text, label in zip(train.texts, train.labels, strict=True))
    assert sorted(train.texts + test.texts) == sorted(electronics()["X"])


def test_fine_foods_by_stars(folder):
    """Of 40 reviews 10 have one star and 20 five; one of these is a repetition: 7 + 13 to train on, 3 + 6 to test."""
    rows = [f'{i},B1,"line {i}\nnext ""quoted"" line",{stars}' for i, stars in enumerate([1, 5, 5, 4] * 10)]
    rows[1] = rows[2].replace("2,B1", "1,B1", 1)
    (folder / "Reviews.csv").write_text("Id,ProductId,Text,Score\n" + "\n".join(rows) + "\n")
    train, test = read("finefood:train"), read("finefood:test")
    assert [part.labels.count(label) for part in (train, test) for label in ("negative", "positive")] == [7, 13, 3, 6]
    assert 'line 0\nnext "quoted" line' in train.texts + test.texts
    assert not set(train.texts) & set(test.texts)


def test_converted_once_and_again_when_the_file_changes(folder):
    raw = folder / "50EleReviews.json"
    raw.write_text(json.dumps(electronics()))
    first = fetch_corpus("amazon50")
    stamp = first.stat().st_mtime_ns
    assert fetch_corpus("amazon50").stat().st_mtime_ns == stamp
    raw.write_text(json.dumps(electronics(each=20)))
    assert len(read("amazon50:train")) == 42


def test_files_in_our_form_come_before_the_published_one(folder):
    (folder / "50EleReviews.json").write_text(json.dumps(electronics()))
    with gzip.open(folder / "amazon50.train.jsonl.gz", "wt") as file:
        file.write('{"text": "a", "label": "b"}\n')
    assert fetch_corpus("amazon50") == folder / "amazon50.train.jsonl.gz"
    assert find_corpus("amazon50").splits == ("train",)


def test_given_directly(tmp_path, monkeypatch):
    monkeypatch.delenv("MASKER_DATA")
    path = tmp_path / "reviews-of-chen.json"
    path.write_text(json.dumps(electronics()))
    import_corpus("amazon50", path)
    assert find_corpus("amazon50").location.startswith("cache (file reviews-of-chen.json (sha256 ")
    assert len(read("amazon50:test")) == 9


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1]", "must be a JSON object with the lists X, y and target_names"),
        ('{"X": ["a"], "y": [0]}', "must be a JSON object with the lists X, y and target_names"),
        ('{"X": ["a"], "y": [0, 1], "target_names": ["k"]}', "X has 1 texts, but y has 2 classes"),
        ('{"X": ["a"], "y": [7], "target_names": ["k"]}', "no usable row for split 'train'"),
        ("{", "does not have the format of 50EleReviews.json (Expecting"),
    ],
)
def test_electronics_of_another_form(folder, content, message):
    (folder / "50EleReviews.json").write_text(content)
    with pytest.raises(DataError) as caught:
        fetch_corpus("amazon50")
    assert str(caught.value).startswith(f"{folder / '50EleReviews.json'}: {message}")
    assert str(caught.value).endswith("; get 50EleReviews.json again")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"Id,Text\n1,a\n", "has no column 'Score'"),
        (b"", "has no column 'Text'"),
        (b"Text,Score\ncaf\xe9,1\n", "does not have the format of Reviews.csv ('utf-8' codec"),
        (b"Text,Score\na,3\n", "no usable row for split 'train'"),
    ],
)
def test_fine_foods_of_another_form(folder, content, message):
    (folder / "Reviews.csv").write_bytes(content)
    with pytest.raises(DataError) as caught:
        fetch_corpus("finefood")
    assert message in str(caught.value) and "\n" not in str(caught.value)
