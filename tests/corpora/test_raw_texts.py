from __future__ import annotations

import gzip
import json

import pytest

from masker.corpora import is_raw


@pytest.fixture
def posts(monkeypatch, tmp_path):
    """Writes 20 Newsgroups into a MASKER_DATA folder."""
    monkeypatch.setenv("MASKER_DATA", str(tmp_path))

    def write(texts):
        with gzip.open(tmp_path / "20newsgroups.train.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps({"text": text, "label": "a"}) + "\n" for text in texts)

    return write


def test_headers_tell_raw_posts_from_stripped_ones(posts):
    posts(["From: a@b\nSubject: c\n\ntext"] * 19 + ["no header"])
    assert is_raw("20newsgroups"), "one post in twenty may lack its headers"
    posts(["From: a@b\n\ntext"] * 8 + ["I was wondering: does it work?", "no header"])
    assert not is_raw("20newsgroups")


def test_a_corpus_with_one_form_only_is_not_even_read():
    assert is_raw("imdb") and is_raw("unheard-of")
