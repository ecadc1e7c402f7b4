"""Labels that look like mistakes are named, with an example."""

from masker import Documents
from masker.documents.label_doubts import label_doubts, warn_of_doubts


def doubts(texts, labels, pairs=None):
    return label_doubts(Documents(texts, pairs, labels, "data.csv"))


def test_nothing_to_say():
    assert doubts(["a", "a", "b"], ["x", "x", "y"]) == []
    assert doubts(["a", "a"], [1.0, 2.0]) == [], "numbers may differ"
    assert label_doubts(Documents(["a"], None, None, "unlabelled")) == []


def test_a_text_with_two_labels():
    (line,) = doubts(["my parcel", "b", "my parcel "], ["refund", "refund", "delivery"])
    named = "('my parcel': 'delivery' and 'refund')"
    assert line == f"data.csv: 1 text has more than one label {named}; only one of them can be learnt"


def test_several_of_them_and_a_long_one():
    (line,) = doubts(["w" * 100, "w" * 100, "b", "b"], ["x", "y", "x", "y"])
    assert line.startswith(f"data.csv: 2 texts have more than one label ('{'w' * 59}…': 'x' and 'y')")


def test_pairs_are_compared_as_pairs():
    assert doubts(["a", "a"], ["x", "y"], ["one", "other"]) == []
    assert len(doubts(["a", "a"], ["x", "y"], ["one", "one"])) == 1


def test_labels_that_differ_in_spelling():
    """Case, blanks inside, and a ligature that Unicode says is two letters."""
    assert doubts(list("abc"), ["Refund", "refund", "login"]) == [
        "labels 'Refund' and 'refund' differ only in case or blanks, but are trained as different classes"
    ]
    (line,) = doubts(list("abcde"), ["log in", "login", "\ufb01t", "fit", "x"])
    assert line.startswith("labels 'fit' and '\ufb01t' and 1 more differ only in case or blanks")


def test_labels_that_are_the_same_number():
    assert doubts(list("abcd"), ["1", "1.0", "2", "x"]) == [
        "labels '1' and '1.0' are the same number, but are trained as different classes"
    ]
    assert doubts(list("abcd"), ["1", "1.5", "True", "nan"]) == []


def test_doubts_are_logged(caplog):
    warn_of_doubts(Documents(["a", "a"], None, ["x", "y"], "data.csv"))
    assert "data.csv: 1 text has more than one label" in caplog.text
