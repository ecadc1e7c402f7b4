import pytest

from masker.config import Settings, build_settings
from masker.documents import Documents, check_classes, check_form, settings_for
from masker.errors import ConfigError, DataError


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


def test_lists_of_labels():
    several = documents([["b", "a"], [], ["c"]])
    assert several.is_multi_label
    assert several.class_names == ["a", "b", "c"]
    assert several.take([1, 2]).labels == [[], ["c"]]
    assert several.fingerprint() != documents([["b"], ["a"], ["c"]]).fingerprint()
    check_classes(several)
    with pytest.raises(DataError, match="here: no document has another label than 'a'; give at least two labels"):
        check_classes(documents([["a"], []]))


def test_lists_of_labels_take_a_head_of_their_own():
    assert settings_for(documents([["a"], []]), Settings()).model.head == "multi-label"
    plain = Settings()
    assert settings_for(documents(["a", "b"]), plain) is plain
    with pytest.raises(DataError, match=r"here: has single labels, and model\.head=multi-label takes lists"):
        settings_for(documents(["a", "b"]), build_settings({"model": {"head": "multi-label"}}))
    with pytest.raises(ConfigError, match=r"model\.head must be one-vs-rest for training\.method=doc"):
        settings_for(documents([["a"], []]), build_settings({"training": {"method": "doc"}}))


def test_labels_come_in_the_form_that_the_model_gives():
    single, lists = documents(["a", "b"]), documents([["a"], []])
    check_form(single, several=False)
    check_form(lists, several=True)
    with pytest.raises(DataError, match="has one label for each text, and this model takes lists of labels; choose an"):
        check_form(single, several=True)
    with pytest.raises(DataError, match="has lists of labels, and this model takes one label for each text; choose an"):
        check_form(lists, several=False)
