import pytest

from masker.documents import Documents
from masker.documents.texts import in_chunks, kind_mismatch, split_pairs, texts_of
from masker.errors import DataError


def test_pairs_are_separated():
    assert split_pairs(["a", "b"]) == (["a", "b"], None)
    assert split_pairs([("a", "x"), ["b", "y"]]) == (["a", "b"], ["x", "y"])
    assert split_pairs([]) == ([], None)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("a text", "texts must be a list of strings; got a single string"),
        (["a", ("b", "c")], r"texts must be strings, or all \(text, text_pair\) tuples"),
        ([1], "texts must be strings"),
        ([("a", "b", "c")], "texts must be strings"),
    ],
)
def test_anything_else_is_refused(texts, message):
    with pytest.raises(DataError, match=message):
        split_pairs(texts)


def test_documents_and_back():
    for texts in (["a", "b"], [("a", "x"), ("b", "y")]):
        first, second = split_pairs(texts)
        assert texts_of(Documents(first, second, None, "here")) == texts


def test_a_stream_comes_in_chunks_and_no_sooner_than_asked(monkeypatch):
    monkeypatch.setattr("masker.documents.texts.STREAM_CHUNK", 2)
    stream = iter("abcde")
    chunks = in_chunks(stream)
    assert next(chunks) == ["a", "b"] and next(stream) == "c"
    assert list(chunks) == [["d", "e"]] and not list(in_chunks([]))


def test_the_kind_that_a_model_takes_is_named():
    assert "trained on single texts" in kind_mismatch(False)
    assert "trained on pairs of texts (columns text and text_pair)" in kind_mismatch(True)
