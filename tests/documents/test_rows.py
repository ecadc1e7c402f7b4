import json

import pytest

from masker.config import DataSettings
from masker.documents import Row, collect_documents, read_documents, stream_rows
from masker.documents.columns import Columns
from masker.documents.rows import records_to_rows
from masker.errors import DataError, NoRowsError
from tests.documents.conftest import read, refuse


def collect(labels, *, numeric=False, required=True, **settings):
    rows = [Row(f"text {i}", None, label, i + 2) for i, label in enumerate(labels)]
    return collect_documents(
        rows,
        DataSettings(**settings),
        name="here",
        require_labels=required,
        head="regression" if numeric else "multi-class",
    )


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


def test_lists_of_labels():
    """An empty list is a document with none of the labels; names are sorted, and count once."""
    assert collect([["y", "x"], [], ["x", "x", 3]]).labels == [["x", "y"], [], ["3", "x"]]


def test_lists_of_one_are_classes_unless_several_are_asked_for():
    assert collect([["x"], ["y"]]).labels == ["x", "y"]
    rows = [Row("a", None, ["x"], 1), Row("b", None, ["y"], 2)]
    several = collect_documents(rows, DataSettings(), name="here", require_labels=True, head="multi-label")
    assert several.labels == [["x"], ["y"]]


def test_a_list_among_single_labels_is_refused():
    with pytest.raises(
        DataError, match="here: line 3 has a list of labels, and line 2 a single one; write lists in all"
    ):
        collect(["x", ["x", "y"]])


def test_a_list_that_holds_no_label_is_named():
    with pytest.raises(DataError, match=r"line 3 must be a list of strings or numbers; got \['x', None\]; fix it"):
        collect([["x", "y"], ["x", None]])


def test_cells_with_several_labels(put):
    table = put("data.csv", "text,labels\na,x;y\nb,\nc, z ;x\n")
    assert read(table).labels == [["x", "y"], [], ["x", "z"]]
    other = put("other.csv", "text,topics\na,x;y\nb,x\n")
    assert read(other, label_column="topics").labels == ["x;y", "x"]
    found = read_documents(other, DataSettings(label_column="topics"), require_labels=True, head="multi-label")
    assert found.labels == [["x", "y"], ["x"]]


def test_a_list_written_as_text_is_refused(put):
    path = put("data.csv", "text,labels\na,\"['x', 'y']\"\n")
    refuse(path, r"column 'labels' at line 2 must hold labels as a;b; got \"\['x', 'y'\]\"; write it so")


def test_lists_of_a_file_without_labels_are_missing(put):
    path = put("data.jsonl", json.dumps({"text": "a", "labels": ["x"]}) + "\n" + json.dumps({"text": "b"}) + "\n")
    refuse(path, "1 row has no label")


def test_label_and_labels(put, caplog):
    """One label for each text is what such files were read by before; a multi-label head reads the lists."""
    path = put("data.jsonl", json.dumps({"text": "a", "label": "x", "labels": ["x", "y"]}) + "\n")
    with caplog.at_level("INFO", "masker"):
        assert read(path).labels == ["x"]
    assert "has columns 'label' and 'labels'; reads 'label'" in caplog.text
    assert read_documents(path, DataSettings(), require_labels=True, head="multi-label").labels == [["x", "y"]]


def test_empty_texts_and_pairs_are_refused_or_skipped():
    rows = [Row("a", "b", "x", 1), Row(" \t", "b", "x", 2), Row("a", "", "y", 3)]
    with pytest.raises(DataError, match=r"here: 2 rows have an empty text \(line 2, 3\); fix them or pass --skip-inv"):
        collect_documents(rows, DataSettings(), name="here", require_labels=True)
    kept = collect_documents(rows, DataSettings(skip_invalid=True), name="here", require_labels=True)
    assert (kept.texts, kept.pairs, kept.skipped) == (["a"], ["b"], 2)


def test_nothing_left_after_skipping():
    with pytest.raises(DataError, match="here: no valid row is left; all 2 have"):
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


def test_rows_carry_line_numbers_and_raw_labels(put):
    path = put("data.csv", 'text,label\n"two\nlines",1\nnext,2\n')
    rows = list(stream_rows(path, DataSettings()))
    assert rows == [("two\nlines", None, "1", 2), ("next", None, "2", 4)]


def test_cells_that_are_no_strings(put):
    assert read(put("x.jsonl", '{"text": 12, "label": true}')).texts == ["12"]
    refuse(
        put("x.jsonl", '{"text": ["a"], "label": 1}'), "column 'text' must hold strings; got a list at line 1; choose"
    )
    refuse(put("x.jsonl", '{"text": {"a": 1}, "label": 1}'), "got a dict at line 1")
    refuse(put("x.jsonl", '{"text": null, "label": 1}'), r"1 row has an empty text \(line 1\)")


def test_half_a_surrogate_pair_is_replaced(put):
    (text,) = read(put("x.jsonl", r'{"text": "\ud83d and \ud83d\ude00"}'), labels=False).texts
    assert text == "\ufffd and \U0001f600"


def test_a_second_text_that_comes_late_is_not_lost(put):
    rows = [{"text": "a", "label": "x"}, {"text": "b", "text_pair": "c", "label": "y"}]
    refuse(put("x.jsonl", "\n".join(map(json.dumps, rows))), "line 2 has a second text, but the first row has none")
    rows[1] = {"text": "b", "colour": "c", "label": "y"}
    assert read(put("y.jsonl", "\n".join(map(json.dumps, rows)))).pairs is None


def test_limit_and_skip(put):
    path = put("x.csv", "text,label\n,1\na,1\nb,\nc,2\nd,3\n")
    documents = read(path, limit=2, skip_invalid=True)
    assert (documents.texts, documents.labels, documents.skipped) == (["a", "c"], ["1", "2"], 2)
    refuse(path, r"1 row has an empty text \(line 2\); fix them or pass --skip-invalid")


def test_columns_are_chosen_from_the_first_record_and_missing_cells_are_empty():
    asked = []

    def find(names):
        asked.append(names)
        return Columns("a", "b", None)

    records = [(1, {"a": 1.5, "b": "x"}), (4, {"a": float("nan"), "b": None}), (5, {})]
    rows = list(records_to_rows(records, find, "here"))
    assert rows == [Row("1.5", "x", None, 1), Row("", "", None, 4), Row("", "", None, 5)]
    assert asked == [["a", "b"]]


def test_no_records_are_no_rows():
    with pytest.raises(NoRowsError, match="here: has no rows; give a source with at least one document"):
        list(records_to_rows([], lambda names: Columns("text", None, None), "here"))


def test_what_a_row_says():
    assert Row("a", None, None, 1).content == "a" and Row("a", "b", None, 1).content == ("a", "b")
    assert [Row(text, pair, None, 1).is_blank for text, pair in ((" ", None), ("a", None), ("a", " "), ("a", "b"))] == [
        *(True, False),
        *(True, False),
    ]
