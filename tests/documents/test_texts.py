import pytest

from masker.documents import Documents
from masker.documents.texts import split_pairs, texts_of
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
