import gzip
import json

import pytest
from click.testing import CliRunner

from masker.cli.data import data
from masker.corpora import lookup


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("MASKER_DATA", str(tmp_path))
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "cache"))
    for split in ("test", "train"):
        with gzip.open(tmp_path / f"toy.{split}.jsonl.gz", "wt") as file:
            file.write('{"text": "a", "label": "b"}\n')
    return tmp_path


def test_list_as_table_and_json():
    table = CliRunner().invoke(data, ["list"])
    assert table.exit_code == 0
    assert "toy" in table.stdout
    assert "train 6,532, test 2,568" in table.stdout
    assert "50EleReviews.json" in table.stdout
    listed = {row["name"]: row for row in json.loads(CliRunner().invoke(data, ["list", "--json"]).stdout)}
    toy = {
        "name": "toy",
        "splits": ["train", "test"],
        "rows": None,
        "location": "MASKER_DATA",
        "about": "",
        "terms": "",
    }
    assert listed["toy"] == toy
    assert listed["mnli"]["location"] == "hub nyu-mll/multi_nli@da70db2a"
    assert "OANC" in listed["mnli"]["terms"]


def test_fetch_prints_one_path_a_line(folder):
    result = CliRunner().invoke(data, ["fetch", "toy"])
    assert result.stdout.splitlines() == [str(folder / f"toy.{split}.jsonl.gz") for split in ("train", "test")]


def test_fetch_from_a_published_file(folder):
    reviews = {"X": [f"tv {i}" for i in range(10)], "y": [0] * 10, "target_names": ["TV"]}
    (folder / "mine.json").write_text(json.dumps(reviews))
    result = CliRunner().invoke(data, ["fetch", "amazon50", "--from", str(folder / "mine.json")])
    files = [folder / "cache" / "corpora" / f"amazon50.{split}.jsonl.gz" for split in ("train", "test")]
    assert result.stdout.splitlines() == [str(file) for file in files]
    assert [len(gzip.decompress(file.read_bytes()).splitlines()) for file in files] == [7, 3]
    wrong = CliRunner().invoke(data, ["fetch", "imdb", "--file", str(folder / "mine.json")])
    assert "'imdb' cannot be imported; these can: 20newsgroups (20news-bydate.tar.gz), ama" in str(wrong.exception)
    missing = CliRunner().invoke(data, ["fetch", "finefood", "--file", "nowhere.csv"])
    assert str(missing.exception) == "nowhere.csv: there is no such file or folder; give the path of Reviews.csv"


def test_renewal_downloads_once(folder, monkeypatch):
    calls = []

    def fetch(name):
        calls.append(name)
        lookup.store_corpus(name, {s: [{"text": s, "label": "x"}] for s in ("train", "test")}, "here")

    monkeypatch.setattr(lookup, "_download", fetch)
    for options in ([], [], ["--renew"]):
        result = CliRunner().invoke(data, ["fetch", "reuters", *options])
        assert len(result.stdout.splitlines()) == 2
    assert calls == ["reuters"] * 2


def test_fetch_of_an_unknown_corpus():
    result = CliRunner().invoke(data, ["fetch", "toyy"])
    assert "no corpus 'toyy'" in str(result.exception)
