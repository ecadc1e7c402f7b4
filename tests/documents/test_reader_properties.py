"""Whatever is in a file, its reader answers with documents or with one line; what was written right comes back."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from masker.config import DataSettings
from masker.documents import decoding, read_documents
from masker.documents.label_studio import from_task
from masker.errors import DataError
from masker.labels import as_class_name, as_number

ENDINGS = (".csv", ".tsv", ".jsonl", ".json", ".txt", ".csv.gz", ".jsonl.gz", ".parquet")
#: Scripts from right to left, beyond the basic plane, marks, emoji and their parts; no control characters.
LETTERS = st.characters(exclude_categories=("Cs", "Cc"))
TEXTS = st.text(LETTERS | st.sampled_from("\n\t,;\"' אبن‏🚀👩‍👩‍👧é𝔘﻿"), min_size=1, max_size=30).filter(str.strip)
LABELS = st.text(LETTERS, min_size=1, max_size=8).filter(lambda label: as_class_name(label) is not None)
ROWS = st.lists(st.tuples(TEXTS, LABELS), min_size=1, max_size=5)
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-32")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def read(name, content, **options):
    """The documents of a file with this content."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        return read_documents(str(path), DataSettings(**options), require_labels=None)


def check_answer(name, content, **options):
    """Documents that can be used, or one line."""
    problem, found = "", None
    try:
        found = read(name, content, **options)
    except DataError as error:
        problem = str(error)
    if found is None:
        assert problem and "\n" not in problem and len(problem) < 2000, problem
        return
    assert found.texts and all(isinstance(text, str) and text.strip() for text in found.texts)
    assert found.labels is None or len(found.labels) == len(found.texts)
    for text in found.texts:
        text.encode("utf-8")  # what no tokenizer takes does not get this far


@settings(deadline=None)
@given(ending=st.sampled_from(ENDINGS), content=st.binary(max_size=200), skip=st.booleans())
@example(ending=".csv", content=b'text,label\n"a,b\n', skip=False)  # a quote that is never closed
@example(ending=".csv", content=b"text,label\na\0b,c\n", skip=False)
@example(ending=".jsonl", content=b'{"text": "\\ud800", "label": 1}\n', skip=False)
@example(ending=".json", content=b"[" * 5000, skip=False)
def test_any_bytes_are_documents_or_one_line(ending, content, skip):
    check_answer(f"table{ending}", content, skip_invalid=skip)


@settings(deadline=None)
@given(rows=st.lists(VALUES, max_size=4), array=st.booleans(), skip=st.booleans())
def test_any_json_is_documents_or_one_line(rows, array, skip):
    records = [{"text": value, "label": value} for value in rows] + rows
    lines = json.dumps(records) if array else "\n".join(map(json.dumps, records))
    check_answer("table.json" if array else "table.jsonl", lines.encode(), skip_invalid=skip)


@settings(deadline=None)
@given(rows=ROWS, encoding=st.sampled_from(ENCODINGS), packed=st.booleans(), delimiter=st.sampled_from(",\t"))
def test_a_table_comes_back_as_it_was_written(rows, encoding, packed, delimiter):
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter).writerows([("text", "label"), *rows])
    content = file.getvalue().encode(encoding)
    ending = ".tsv" if delimiter == "\t" else ".csv"
    found = read(
        f"table{ending}.gz" if packed else f"table{ending}",
        gzip.compress(content, 1) if packed else content,
        encoding=encoding,
    )
    assert found.texts == [text for text, _ in rows]
    assert found.labels == [label.strip() for _, label in rows]


@settings(deadline=None)
@given(rows=ROWS, mark=st.booleans())
def test_json_lines_come_back_as_they_were_written(rows, mark):
    lines = "".join(json.dumps({"text": text, "label": label}, ensure_ascii=False) + "\n" for text, label in rows)
    found = read("table.jsonl", lines.encode("utf-8-sig" if mark else "utf-8"))
    assert found.texts == [text for text, _ in rows]


@given(VALUES)
def test_any_label_is_a_class_a_number_or_none(value):
    name, number = as_class_name(value), as_number(value)
    assert name is None or (isinstance(name, str) and name == name.strip() != "")
    assert number is None or (isinstance(number, float) and abs(number) < float("inf"))


@given(VALUES, VALUES)
def test_any_task_of_label_studio(data, annotations):
    record = {"data": data, "annotations": annotations}
    assert isinstance(from_task(record), dict)
    nested = {"data": {}, "annotations": [{"result": annotations}, {"result": [{"value": data}, data]}]}
    assert isinstance(from_task(nested)["label"], str | None)


def test_a_line_of_a_hundred_megabytes_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "long.txt.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(100):
            file.write(b"x" * 2**20)
    with pytest.raises(DataError, match=f"line 1 is longer than {decoding.MAX_LINE} characters"):
        read_documents(str(path), DataSettings(), require_labels=False)


def test_an_array_that_would_take_all_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(decoding, "MAX_ARRAY", 20)
    (tmp_path / "a.json").write_text('[{"text": "a longer one"}]')
    with pytest.raises(DataError, match=r"is longer than 20 characters; write it as JSON Lines"):
        read_documents(str(tmp_path / "a.json"), DataSettings(), require_labels=False)
