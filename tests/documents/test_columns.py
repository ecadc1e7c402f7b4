import pytest

from masker.config import DataSettings
from masker.documents import read_documents, stream_rows
from masker.documents.columns import list_names, match_column
from masker.errors import DataError
from tests.documents.conftest import read, refuse


def test_columns_by_name(put):
    path = put("pairs.csv", "id,Premise,HYPOTHESIS,Score\n1,p,h,0.5\n2,q,i,1\n")
    documents = read(path, numeric=True)
    assert (documents.texts, documents.pairs, documents.labels) == (["p", "q"], ["h", "i"], [0.5, 1.0])
    chosen = read(path, text_column="hypothesis", text_pair_column="premise", label_column="id")
    assert (chosen.texts, chosen.pairs, chosen.labels) == (["h", "i"], ["p", "q"], ["1", "2"])
    assert read(put("both.csv", "TEXT,text,label\nno,yes,1\n")).texts == ["yes"]


def test_missing_columns(put):
    path = put("data.csv", "a,b\n1,2\n")
    refuse(path, r"data.csv: cannot tell which column holds the text; its columns are: a, b; pass --text-column")
    refuse(path, "cannot tell which column holds the label; .* pass --label-column", text_column="a")
    refuse(path, "has no column 'c'; its columns are: a, b; pass --text-column", text_column="c")
    refuse(path, "has no column 'c'; .* pass --pair-column", text_column="a", text_pair_column="c", labels=False)
    refuse(path, "has no column 'c'; .* pass --label-column", text_column="a", label_column="c")
    assert read(path, text_column="a", label_column="c", labels=False).labels is None


def test_a_column_with_another_role_is_asked_for_by_its_name(put):
    path, settings = put("data.csv", "text,when\na,b\n"), DataSettings(label_column="time")
    with pytest.raises(DataError, match="has no column 'time'; its columns are: text, when; pass --time-column"):
        list(stream_rows(path, settings, require_labels=True, label_role="time"))


def test_a_label_column_that_is_named_has_to_be_there_if_labels_are_wanted(put):
    path = put("data.csv", "text,label\na,b\n")
    named = DataSettings(label_column="lable")
    assert read_documents(path, named, require_labels=False).labels is None
    with pytest.raises(DataError, match="has no column 'lable'"):
        read_documents(path, named, require_labels=None)
    path = put("texts.csv", "text\na\n")
    assert read_documents(path, DataSettings(), require_labels=None).labels is None


def test_an_exact_match_comes_before_another_case():
    assert match_column(["TEXT", "text"], "text") == "text"
    assert match_column(["TEXT", "Text"], "text") == "TEXT"
    assert match_column(["body"], "text") is None


def test_errors_list_a_few_short_names():
    assert list_names(["a", "b" * 41]) == "a, " + "b" * 37 + "..."
    assert list_names([str(i) for i in range(21)]).endswith("18, 19, ...")
