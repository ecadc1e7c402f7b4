import gzip
import json

import pytest

from masker.corpora import fetch_corpus, find_corpus
from masker.corpora.cache import cached_file, cached_record, store_corpus
from masker.errors import DataError
from tests.corpora.conftest import read

pytestmark = pytest.mark.usefixtures("cache")


def test_rows_are_shuffled_and_files_are_the_same_everywhere(downloads, monkeypatch, tmp_path):
    first = fetch_corpus("imdb", "train")
    with gzip.open(first, "rt") as file:
        labels = [json.loads(line)["label"] for line in file]
    assert labels != sorted(labels)
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "other"))
    again = fetch_corpus("imdb", "train")
    assert again != first
    assert again.read_bytes() == first.read_bytes()


def test_a_damaged_file_is_refused_until_renewed(downloads, cache):
    path = fetch_corpus("rotten-tomatoes", "test")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"x")
    message = r"rotten-tomatoes.test.jsonl.gz: is damaged \(.*\); run `masker data fetch rotten-tomatoes --renew`"
    with pytest.raises(DataError, match=message) as caught:
        read("rotten-tomatoes:test")
    assert "\n" not in str(caught.value)
    assert len(read("rotten-tomatoes:train")) == 28
    assert fetch_corpus("rotten-tomatoes", "test", renew=True).read_bytes() == whole
    assert len(downloads[0]) == 2


@pytest.mark.parametrize("record", ["", "{}", '{"origin": "here", "files": {"train": 3}}', None])
def test_files_without_a_whole_record_are_fetched_again(downloads, cache, record):
    fetch_corpus("rotten-tomatoes")
    if record is None:
        (cache / "rotten-tomatoes.test.jsonl.gz").unlink()
    else:
        (cache / "rotten-tomatoes.source.json").write_text(record)
    assert "cache" not in find_corpus("rotten-tomatoes").location
    fetch_corpus("rotten-tomatoes")
    assert len(downloads[0]) == 2
    assert "cache" in find_corpus("rotten-tomatoes").location


def test_a_cache_that_cannot_be_written(downloads, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "file"))
    with pytest.raises(DataError, match=r"file/corpora: cannot be written .*; point MASKER_CACHE to a writable folder"):
        fetch_corpus("imdb", "train")


def test_an_interrupted_renewal_leaves_no_corpus(cache, monkeypatch):
    """The record goes first and comes last: what is left without it counts as absent."""
    parts = {split: [{"text": split, "label": "x"}] for split in ("train", "test")}
    store_corpus("toy", parts, "here")
    assert cached_record("toy")["origin"] == "here"

    def cut(path, content):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("masker.corpora.cache.write_json", cut)
        with pytest.raises(KeyboardInterrupt):
            store_corpus("toy", parts, "there")
    assert cached_record("toy") is None
    with pytest.raises(
        DataError, match=r"toy.train.jsonl.gz: is not in the cache; run `masker data fetch toy --renew`"
    ):
        cached_file("toy", "train")


def test_a_store_that_fails_half_way_keeps_the_old_corpus(cache):
    store_corpus("toy", {"train": [{"text": "old", "label": "x"}]}, "here")
    before = cached_file("toy", "train").read_bytes()
    with pytest.raises(TypeError):
        store_corpus(
            "toy", {"train": [{"text": "new", "label": "x"}], "test": [{"text": "t", "label": set()}]}, "there"
        )
    assert cached_record("toy")["origin"] == "here"
    assert cached_file("toy", "train").read_bytes() == before
    assert sorted(path.name for path in cache.iterdir()) == ["toy.source.json", "toy.train.jsonl.gz"]
