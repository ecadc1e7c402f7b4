import pytest

from masker.config import DataSettings
from masker.documents import Documents, Row, check_classes, collect_documents
from masker.errors import DataError


def documents(labels, texts=None):
    texts = texts or [f"text {i}" for i in range(len(labels))]
    return Documents(texts=texts, pairs=None, labels=labels, name="here")


def collect(labels, *, numeric=False, required=True, **settings):
    rows = [Row(f"text {i}", None, label, i + 2) for i, label in enumerate(labels)]
    return collect_documents(
        rows, DataSettings(**settings), name="here", require_labels=required, numeric_labels=numeric
    )


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


@pytest.mark.parametrize(
    ("raw", "name"),
    [(3, "3"), (3.0, "3"), (2.5, "2.5"), (True, "true"), (False, "false"), (" spam ", "spam"), ("NA", "NA")],
)
def test_class_names_from_raw_labels(raw, name):
    assert collect([raw]).labels == [name]


def test_scores_from_raw_labels():
    assert collect([1, "2.5", " 3e0 ", 4.0], numeric=True).labels == [1.0, 2.5, 3.0, 4.0]


@pytest.mark.parametrize("numeric", [False, True])
def test_missing_labels_are_counted_with_their_lines(numeric):
    labels = ["1", None, "", "  ", float("nan"), "nan", None, None]
    message = r"here: 7 rows have no label \(line 3, 4, 5, 6, 7, \.\.\.\); fix them or pass --skip-invalid"
    with pytest.raises(DataError, match=message):
        collect(labels, numeric=numeric)
    kept = collect(labels, numeric=numeric, skip_invalid=True)
    assert (len(kept), kept.skipped) == (1, 7)


@pytest.mark.parametrize("value", ["good", "1,5", "1_0", float("inf"), "-inf", True, [1]])
def test_a_label_that_is_no_number_is_named(value):
    with pytest.raises(DataError, match="here: the label at line 3 must be a finite number; got ") as caught:
        collect([1.0, value], numeric=True)
    assert repr(value) in str(caught.value)
    assert collect([1.0, value], numeric=True, skip_invalid=True).skipped == 1


def test_a_list_is_not_a_class():
    with pytest.raises(DataError, match=r"line 3 must be one string or number; got \['x', 'y'\]; choose another"):
        collect(["x", ["x", "y"]])


def test_empty_texts_and_pairs_are_refused_or_skipped():
    rows = [Row("a", "b", "x", 1), Row(" \t", "b", "x", 2), Row("a", "", "y", 3)]
    with pytest.raises(DataError, match=r"here: 2 rows have an empty text \(line 2, 3\); fix them or pass --skip-inv"):
        collect_documents(rows, DataSettings(), name="here", require_labels=True)
    kept = collect_documents(rows, DataSettings(skip_invalid=True), name="here", require_labels=True)
    assert (kept.texts, kept.pairs, kept.skipped) == (["a"], ["b"], 2)


def test_nothing_left_after_skipping():
    with pytest.raises(DataError, match="here: no valid row is left: all 2 have"):
        collect([None, None], skip_invalid=True)


def test_limit_takes_the_first_valid_rows_and_reads_no_further():
    def rows():
        yield from (Row("", None, "x", 1), Row("a", None, "x", 2), Row("b", None, "y", 3))
        raise AssertionError("read too far")

    kept = collect_documents(rows(), DataSettings(limit=2, skip_invalid=True), name="here", require_labels=True)
    assert (kept.texts, kept.skipped) == (["a", "b"], 1)


def test_labels_that_are_not_required_are_kept_only_if_complete():
    assert collect(["x", "y"], required=False).labels == ["x", "y"]
    assert collect(["x", None], required=False).labels is None


def test_labels_that_may_be_there_are_there_for_all_rows_or_for_none():
    assert collect([None, float("nan")], required=None).labels is None
    assert collect(["x", "y"], required=None).labels == ["x", "y"]
    with pytest.raises(DataError, match=r"no label \(line 3\)"):
        collect(["x", None, "y"], required=None)
    kept = collect(["x", None, "y"], required=None, skip_invalid=True)
    assert (kept.texts, kept.labels, kept.skipped) == (["text 0", "text 2"], ["x", "y"], 1)
    kept = collect([None, "x", None, "y", "z"], required=None, skip_invalid=True, limit=2)
    assert (kept.labels, kept.skipped) == (["x", "y"], 2), "the limit counts rows that stay"
    assert len(collect([None, None, None], required=None, limit=2)) == 2


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
