import gzip
import io
import json
import sys

import pytest

from masker.config import DataSettings
from masker.documents import read_documents, stream_rows, tables
from masker.errors import DataError

ROWS = [{"text": "good film", "label": "pos"}, {"text": "bad, dull film", "label": "neg"}]


@pytest.fixture(autouse=True)
def _no_corpora(monkeypatch, tmp_path_factory):
    monkeypatch.delenv("MASKER_DATA", raising=False)
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def put(tmp_path):
    def write(name, content):
        path = tmp_path / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


def read(path, *, labels=True, numeric=False, **settings):
    return read_documents(path, DataSettings(**settings), require_labels=labels, numeric_labels=numeric)


def refuse(path, message, **kwargs):
    with pytest.raises(DataError, match=message) as caught:
        read(path, **kwargs)
    assert "\n" not in str(caught.value)


JSONL = "\n".join(map(json.dumps, ROWS)) + "\n\n"
CSV = 'text,label\ngood film,pos\n\n"bad, dull film",neg\n'


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize(
    ("form", "content"),
    [
        ("csv", CSV),
        ("CSV", CSV.replace("\n", "\r\n")),
        ("csv", "\ufeff" + CSV),
        ("tsv", "label\ttext\npos\tgood film\nneg\tbad, dull film"),
        ("jsonl", JSONL),
        ("ndjson", JSONL),
        ("json", json.dumps(ROWS, indent=1)),
        ("json", JSONL),
    ],
)
def test_text_forms(put, form, content, ending):
    documents = read(put(f"data.{form}{ending}", content))
    assert documents.texts == ["good film", "bad, dull film"]
    assert documents.labels == ["pos", "neg"]
    assert documents.pairs is None


def test_plain_text_has_no_labels(put):
    path = put("data.txt", "one\r\ntwo\n")
    assert read(path, labels=False).texts == ["one", "two"]
    assert read(path, labels=False).labels is None
    refuse(path, "has no label column that can be told by its name; its columns are: text; pass --label-column")


def test_parquet_reads_the_needed_columns(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"Text": ["a", "b", "c"], "junk": [[1], [2], [3]], "label": [1, None, 2]})
    frame.to_parquet(tmp_path / "data.parquet")
    documents = read(tmp_path / "data.parquet", skip_invalid=True)
    assert (documents.texts, documents.labels, documents.skipped) == (["a", "c"], ["1", "2"], 1)
    refuse(tmp_path / "data.parquet", r"1 row has no label \(line 2\)")
    frame.head(0).to_parquet(tmp_path / "empty.parquet")
    refuse(tmp_path / "empty.parquet", "empty.parquet: has no rows")


def test_corrupt_parquet(put):
    refuse(put("data.parquet", "not parquet at all"), "data.parquet: the Parquet file is corrupt .*; write it again")


def give_stdin(monkeypatch, content):
    stdin = io.TextIOWrapper(io.BytesIO(content))
    monkeypatch.setattr(sys, "stdin", stdin)
    return stdin


def test_stdin_of_json_lines_and_of_texts(monkeypatch):
    stdin = give_stdin(monkeypatch, b"\n" + JSONL.encode())
    assert read("-").labels == ["pos", "neg"]
    assert not stdin.buffer.closed
    give_stdin(monkeypatch, "one\ntwö\n".encode())
    documents = read("-", labels=False)
    assert (documents.texts, documents.name) == (["one", "twö"], "standard input")


def test_bad_stdin(monkeypatch):
    give_stdin(monkeypatch, b"")
    refuse("-", "standard input: has no rows")
    give_stdin(monkeypatch, b"caf\xe9\n")
    refuse("-", "standard input: is not valid utf-8; pass --encoding latin-1", labels=False)
    give_stdin(monkeypatch, b'"text",label\na,b\n')
    refuse("-", "standard input: its first line is '\"text\",label', as of a table", labels=False)


def test_a_label_column_that_is_named_has_to_be_there_if_labels_are_wanted(put):
    path = put("data.csv", "text,label\na,b\n")
    named = DataSettings(label_column="lable")
    assert read_documents(path, named, require_labels=False).labels is None
    with pytest.raises(DataError, match="has no column 'lable'"):
        read_documents(path, named, require_labels=None)
    path = put("texts.csv", "text\na\n")
    assert read_documents(path, DataSettings(), require_labels=None).labels is None


def test_rows_carry_line_numbers_and_raw_labels(put):
    path = put("data.csv", 'text,label\n"two\nlines",1\nnext,2\n')
    rows = list(stream_rows(path, DataSettings()))
    assert rows == [("two\nlines", None, "1", 2), ("next", None, "2", 4)]


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("jsonl", '{"text": "a"}\n', "{broken\n"),
        ("csv.gz", "text\na\n", 'b,"too many\n'),
        ("txt", "a\n", "\0\n"),
    ],
)
def test_reading_is_lazy(put, form, good, bad):
    rows = stream_rows(put(f"data.{form}", good + bad), DataSettings())
    assert next(rows).text == "a"
    with pytest.raises(DataError):
        next(rows)


def test_columns_by_name(put):
    path = put("pairs.csv", "id,Premise,HYPOTHESIS,Score\n1,p,h,0.5\n2,q,i,1\n")
    documents = read(path, numeric=True)
    assert (documents.texts, documents.pairs, documents.labels) == (["p", "q"], ["h", "i"], [0.5, 1.0])
    chosen = read(path, text_column="hypothesis", text_pair_column="premise", label_column="id")
    assert (chosen.texts, chosen.pairs, chosen.labels) == (["h", "i"], ["p", "q"], ["1", "2"])
    assert read(put("both.csv", "TEXT,text,label\nno,yes,1\n")).texts == ["yes"]


def test_missing_columns(put):
    path = put("data.csv", "a,b\n1,2\n")
    refuse(
        path, r"data.csv: has no text column that can be told by its name; its columns are: a, b; pass --text-column"
    )
    refuse(path, "has no label column .* pass --label-column", text_column="a")
    refuse(path, "has no column 'c'; its columns are: a, b; pass --text-column", text_column="c")
    refuse(path, "has no column 'c'; .* pass --pair-column", text_column="a", text_pair_column="c", labels=False)
    refuse(path, "has no column 'c'; .* pass --label-column", text_column="a", label_column="c")
    assert read(path, text_column="a", label_column="c", labels=False).labels is None


def test_missing_files(put, tmp_path):
    put("train.csv", CSV)
    refuse(
        tmp_path / "trian.csv", r"trian.csv': there is no such file or folder; check the path. Did you mean 'train.csv'"
    )
    refuse(tmp_path / "nowhere" / "x", "nowhere/x': there is no such file or folder")
    refuse("", "'': there is no such file or folder")


def test_unknown_ending(put):
    refuse(put("data.xlsx", "x"), "data.xlsx: the ending '.xlsx' is not known; give the file as CSV, TSV")
    refuse(put("data.parquet.gz", "x"), "the ending '.parquet.gz' is not known")


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.json", "x.txt", "x.csv.gz"])
def test_no_rows(put, name):
    refuse(put(name, ""), "has no rows; give a source with at least one document", labels=False)


def test_header_only(put):
    refuse(put("x.csv", "text,label\n"), "x.csv: has a header but no rows; add at least one document")


def test_encodings(put):
    path = put("x.csv", b"text,label\n" + b"a" * 5 + b",1\ncaf\xe9,2\n")
    refuse(path, r"x.csv: is not valid utf-8 \(byte 22\); pass --encoding latin-1 or convert it to UTF-8")
    assert read(path, encoding="latin-1").texts[1] == "café"
    refuse(put("x.jsonl.gz", b'{"text": "a"}\n' * 200_000 + b"\xff"), r"\(byte 2800000\)", labels=False)
    refuse(put("cut.txt", b"caf\xc3"), r"\(byte 3\)", labels=False)
    wide = put("wide.csv", CSV.encode("utf-16"))
    refuse(wide, "wide.csv: is UTF-16; pass --encoding utf-16")
    assert read(wide, encoding="utf-16").labels == ["pos", "neg"]
    bare = put("bare.csv", CSV.encode("utf-16-le"))
    refuse(bare, "does not tell its byte order, as utf-16 must; pass --encoding utf-16-le, ", encoding="utf-16")
    assert read(bare, encoding="utf-16-le").labels == ["pos", "neg"]
    refuse(path, "--encoding: 'klingon' is not a known text encoding; try utf-8 or latin-1", encoding="klingon")


def test_invalid_json(put):
    refuse(put("x.jsonl", '{"text": "a", "label": 1}\n{"text": \n'), r"x.jsonl: line 2 is not valid JSON \(")
    refuse(put("x.jsonl", '{"text": "a", "label": 1}\n[1]\n'), "line 2 must be a JSON object .* got a list")
    refuse(put("x.json", '[{"text": "a", "label": 1}, 7]'), "item 2 must be a JSON object .* got a int")
    refuse(put("x.json", "[1, "), "x.json is not valid JSON")
    refuse(put("deep.jsonl", "[" * 100_000), "line 1 is not valid JSON")


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


def test_overlong_lines(put, monkeypatch):
    monkeypatch.setattr(tables, "MAX_LINE", 100)
    refuse(put("x.txt", "a\n" + "b" * 101), "x.txt: line 2 is longer than 100 characters; split it", labels=False)
    refuse(put("x.csv", "text,label\n" + "b" * 101), "line 2 is longer than 100 characters")
    refuse(put("x.csv", 'text,label\na,1\n"' + "b\n" * 200), r"the row at line 3 is not valid \(field larger than")
    assert read(put("x.txt", "a" * 100), labels=False).texts == ["a" * 100]


def test_an_overlong_line_is_not_read_whole(monkeypatch):
    """Ten times the limit in one line: the reader asks for one character more than the limit, and never again."""
    monkeypatch.setattr(tables, "MAX_LINE", 10_000)
    raw = io.BytesIO(b"x" * 100_000)
    text = io.TextIOWrapper(raw)
    with pytest.raises(DataError, match="line 1 is longer"):
        list(tables._lines(text, "x"))
    assert raw.tell() < 30_000


def test_long_csv_cells_are_fine(put):
    assert len(read(put("x.csv", "text,label\n" + "b" * 200_000 + ",1\n")).texts[0]) == 200_000


def test_csv_rows_that_do_not_fit(put):
    refuse(
        put("x.csv", "text,label\na,1\nwell, no,1\n"), "line 3 has 3 cells, the header 2; put texts with a delimiter"
    )
    assert read(put("x.csv", "text,label\na,1,,\n")).texts == ["a"]
    refuse(put("x.csv", "text,label\na\n"), r"1 row has no label \(line 2\)")
    refuse(put("x.csv", 'text,label\na,1\n"b,2\nc,3\n'), "the row at line 3 is not valid .*; check its double quotes")


def test_nul_bytes(put):
    refuse(
        put("x.csv", "text,label\na\0b,1\n"), "x.csv: line 2 holds a NUL byte; it is not a text file, or needs --enc"
    )


def test_damaged_gzip(put, tmp_path):
    whole = gzip.compress(b'{"text": "a"}\n' * 10_000)
    for name, content in {"cut": whole[:-20], "plain": b'{"text": "a"}\n', "mess": whole[:40] + b"\xff" * 40}.items():
        path = tmp_path / f"{name}.jsonl.gz"
        path.write_bytes(content)
        refuse(
            path,
            rf"{name}.jsonl.gz: the gzip file is truncated or corrupt \(.*\); fetch or compress it again",
            labels=False,
        )


def test_a_file_that_cannot_be_opened(put, monkeypatch):
    def denied(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tables, "_open_bytes", denied)
    refuse(put("x.csv", CSV), r"x.csv: cannot be read \(Permission denied\); check the file")


def test_limit_and_skip(put):
    path = put("x.csv", "text,label\n,1\na,1\nb,\nc,2\nd,3\n")
    documents = read(path, limit=2, skip_invalid=True)
    assert (documents.texts, documents.labels, documents.skipped) == (["a", "c"], ["1", "2"], 2)
    refuse(path, r"1 row has an empty text \(line 2\); fix them or pass --skip-invalid")


def test_a_second_text_that_comes_late_is_not_lost(put):
    rows = [{"text": "a", "label": "x"}, {"text": "b", "text_pair": "c", "label": "y"}]
    refuse(put("x.jsonl", "\n".join(map(json.dumps, rows))), "line 2 has a second text, the first row has none")
    rows[1] = {"text": "b", "colour": "c", "label": "y"}
    assert read(put("y.jsonl", "\n".join(map(json.dumps, rows)))).pairs is None
