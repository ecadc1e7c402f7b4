import io
import json
import sys
from pathlib import Path

import pytest

from masker.config import DataSettings
from masker.documents import stream_rows
from masker.documents.file_formats import table_format
from masker.errors import DataError
from tests.documents.conftest import read, refuse

ROWS = [{"text": "good film", "label": "pos"}, {"text": "bad, dull film", "label": "neg"}]
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
    refuse(path, "cannot tell which column holds the label; its columns are: text; pass --label-column")


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
    refuse("-", "standard input: the first line, '\"text\",label', looks like a table header", labels=False)


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


def test_unknown_ending(put):
    refuse(put("data.xlsx", "x"), "data.xlsx: the ending '.xlsx' is not known; give the file as CSV, TSV")
    refuse(put("data.parquet.gz", "x"), "the ending '.parquet.gz' is not known")


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.json", "x.txt", "x.csv.gz"])
def test_no_rows(put, name):
    refuse(put(name, ""), "has no rows; give a source with at least one document", labels=False)


def test_header_only(put):
    refuse(put("x.csv", "text,label\n"), "x.csv: has a header but no rows; add at least one document")


def test_invalid_json(put):
    refuse(put("x.jsonl", '{"text": "a", "label": 1}\n{"text": \n'), r"x.jsonl: line 2 is not valid JSON \(")
    refuse(put("x.jsonl", '{"text": "a", "label": 1}\n[1]\n'), "line 2 must be a JSON object .* got a list")
    refuse(put("x.json", '[{"text": "a", "label": 1}, 7]'), "item 2 must be a JSON object .* got a int")
    refuse(put("x.json", "[1, "), "x.json is not valid JSON")
    refuse(put("deep.jsonl", "[" * 100_000), "line 1 is not valid JSON")


def test_long_csv_cells_are_fine(put):
    assert len(read(put("x.csv", "text,label\n" + "b" * 200_000 + ",1\n")).texts[0]) == 200_000


def test_csv_rows_that_do_not_fit(put):
    refuse(
        put("x.csv", "text,label\na,1\nwell, no,1\n"),
        "line 3 has 3 cells, the header 2; put texts that contain the delimiter",
    )
    assert read(put("x.csv", "text,label\na,1,,\n")).texts == ["a"]
    refuse(put("x.csv", "text,label\na\n"), r"1 row has no label \(line 2\)")
    refuse(put("x.csv", 'text,label\na,1\n"b,2\nc,3\n'), "the row at line 3 is not valid .*; check its double quotes")


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("a.csv", ".csv"),
        ("a.CSV.gz", ".csv"),
        ("b.x.jsonl.gz", ".jsonl"),
        ("a.parquet", ".parquet"),
        ("a.parquet.gz", None),
        ("a.gz", None),
        ("a", None),
    ],
)
def test_formats_by_ending(name, ending):
    assert table_format(Path(name)) == ending
