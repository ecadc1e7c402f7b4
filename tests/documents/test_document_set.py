import pytest

from masker.documents import Documents, check_classes
from masker.errors import DataError


def documents(labels, texts=None):
    texts = texts or [f"text {i}" for i in range(len(labels))]
    return Documents(texts=texts, pairs=None, labels=labels, name="here")


def test_take_keeps_texts_pairs_and_labels_together():
    whole = Documents(["a", "b", "c"], ["x", "y", "z"], ["1", "2", "3"], "here", skipped=4)
    assert whole.take([2, 0]) == Documents(["c", "a"], ["z", "x"], ["3", "1"], "here", skipped=4)
    assert len(whole) == 3


def test_class_names_are_sorted_and_absent_for_scores():
    assert documents(["b", "a", "b"]).class_names == ["a", "b"]
    assert documents([1.0, 2.0]).class_names == []


def test_fingerprint_is_stable_and_sees_every_field():
    one = Documents(["a b"], ["c"], ["x"], "here")
    assert one.fingerprint() == Documents(["a b"], ["c"], ["x"], "elsewhere").fingerprint()
    others = [
        Documents(["a"], ["b c"], ["x"], ""),
        Documents(["a b"], None, ["x"], ""),
        Documents(["a b"], ["c"], [1.0], ""),
    ]
    assert len({one.fingerprint(), *(other.fingerprint() for other in others)}) == 4
    assert Documents([], None, None, "").fingerprint().startswith("e3b0c442")  # sha256 of nothing


def test_check_classes_wants_two_classes():
    check_classes(documents(["a", "b"]))
    with pytest.raises(DataError, match="here: all 3 documents have the label 'spam'; a classifier needs at least two"):
        check_classes(documents(["spam"] * 3))
    with pytest.raises(DataError, match="here: has no class labels; pass --label-column"):
        check_classes(documents([0.5, 1.0]))


def test_check_classes_suggests_regression_for_scores():
    scores = [str(i / 10) for i in range(21)]
    with pytest.raises(DataError, match=r"21 different numbers as labels of 30 documents .* --head regression"):
        check_classes(documents(scores + scores[:9]))
    check_classes(documents(scores * 2))  # not more than half the rows
    check_classes(documents(scores[:20]))  # not more than 20
    check_classes(documents([f"class {score}" for score in scores]))
