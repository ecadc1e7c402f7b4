"""Labelled files as rows: CSV, TSV, JSON Lines, JSON, plain text (each also gzipped), Parquet and standard input.

A source may also be a corpus by name (:mod:`masker.corpora.lookup`), or a folder or hub id
(:mod:`masker.documents.hub_datasets`).
Rows are streamed: memory does not grow with the file, except for a JSON array, which has to be read whole.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import json
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO

from masker.config import DataSettings
from masker.corpora import lookup
from masker.documents import hub_datasets
from masker.documents.collection import (
    LABEL_COLUMNS,
    PAIR_COLUMNS,
    TEXT_COLUMNS,
    Columns,
    Documents,
    Row,
    as_text,
    collect_documents,
    find_columns,
)
from masker.documents.filters import columns_to_filter, describe_where, matching_records
from masker.errors import DataError, NoRowsError, did_you_mean

#: The longest line, in characters, that is read; a longer one is a damaged or wrong file more often than a document.
MAX_LINE = 64 * 2**20

#: The forms that are surely tables of documents; a .json or .txt file beside them is often something else.
TABLE_FORMS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")

_TEXT_FORMS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".txt")
_FORMS = "CSV, TSV, JSONL, NDJSON, JSON, TXT (each also .gz) or Parquet"
_HUB_ID = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")

_Record = tuple[int, dict[str, Any]]
_Find = Callable[[Sequence[str]], Columns]
_Choose = Callable[[Sequence[str]], list[str]]


def read_documents(
    source: str | Path, settings: DataSettings, *, require_labels: bool | None, numeric_labels: bool = False
) -> Documents:
    """Read a whole source into memory and check it.

    Args:
        source: As for :func:`stream_rows`.
        settings: Columns, encoding, ``limit`` (the first so many valid rows) and ``skip_invalid``.
        require_labels: Whether every document needs a label; ``None``: if any has one. Where they are not required,
            labels are kept only when all rows have one.
        numeric_labels: Whether labels are numbers (regression) rather than class names.

    Raises:
        DataError: One line that says what is wrong with the source.
    """
    rows = stream_rows(source, settings, require_labels=require_labels)
    name = _shown(source) + describe_where(settings.where)
    return collect_documents(rows, settings, name=name, require_labels=require_labels, numeric_labels=numeric_labels)


def stream_rows(
    source: str | Path, settings: DataSettings, *, require_labels: bool | None = False, every_value: bool = True
) -> Iterator[Row]:
    """Read rows one by one; ``limit`` and ``skip_invalid`` are left to the caller, and texts may be empty.

    Args:
        source: A file; ``-`` for standard input (JSON Lines or one text per line); a corpus as ``name`` or
            ``name:split``; a folder or hub id, also with ``:split``. A file comes before a corpus of the same name,
            and that before a folder (write ``./name`` for the folder).
        settings: The columns, the encoding and ``where``.
        require_labels: Whether a missing label column is an error; ``None``: if the settings name it.
        every_value: Whether each value of ``where`` has to occur; one file of many may lack some.

    Raises:
        DataError: At once if there is no such file, and while reading if the source is damaged or out of reach.
    """
    name, where = _shown(source), settings.where or {}
    find = partial(find_columns, source=name, settings=settings, require_labels=require_labels)

    def choose(names: Sequence[str]) -> list[str]:
        return list(dict.fromkeys([*find(names).present(), *columns_to_filter(names, where, name)]))

    records = _records(str(source), settings.encoding, choose)
    matching = matching_records(records, where, name, every_value=every_value) if where else records
    return _rows(matching, find, name)


def _shown(source: str | Path) -> str:
    return "standard input" if str(source) == "-" else str(source)


def _records(source: str, encoding: str, choose: _Choose) -> Iterator[_Record]:
    if source == "-":
        return _read_stdin(encoding)
    path = Path(source).expanduser()
    if os.path.isfile(path):
        return _read_file(path, _form(path), encoding, choose)
    known = [entry.name for entry in path.parent.iterdir()] if os.path.isdir(path.parent) else []
    missing = f"{source!r}: there is no such file or folder; check the path.{did_you_mean(path.name, known)}"
    if path.suffix.lower() in (*_TEXT_FORMS, ".gz", ".parquet") and not os.path.isdir(path):
        raise DataError(missing)
    corpus = lookup.corpus_path_or_none(source)
    if corpus is not None:
        return _read_file(corpus, ".jsonl", "utf-8", choose)
    base, colon, split = source.rpartition(":")
    if not colon or (source and os.path.isdir(path)):
        base, split = source, ""
    folder = os.path.expanduser(base)
    if os.path.isdir(folder):
        return hub_datasets.folder_records(folder, split or None, choose)
    if not _HUB_ID.fullmatch(base):
        raise DataError(missing)
    hint = did_you_mean(Path(base).name, [*known, *(info.name for info in lookup.list_corpora())])
    return hub_datasets.hub_records(base, split or None, choose, hint)


def _rows(records: Iterable[_Record], find: _Find, name: str) -> Iterator[Row]:
    columns: Columns | None = None
    names: set[str] = set()
    for line, record in records:
        if columns is None:
            columns = find(list(record))
            names = set(record)
        elif columns.pair is None and any(key.lower() in PAIR_COLUMNS for key in record.keys() - names):
            raise DataError(f"{name}: line {line} has a second text, the first row has none; give all rows one or none")
        text, pair, label = columns
        yield Row(
            as_text(record.get(text), column=text, line=line, source=name),
            None if pair is None else as_text(record.get(pair), column=pair, line=line, source=name),
            None if label is None else record.get(label),
            line,
        )
    if columns is None:
        raise NoRowsError(f"{name}: has no rows; give a source with at least one document")


def table_form(path: Path) -> str | None:
    """The ending that tells the form of a file, ``.csv`` for ``a.csv.gz``, or ``None`` if it cannot be read."""
    inner = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    form = inner.suffix.lower()
    return form if form in _TEXT_FORMS or (form == ".parquet" and inner is path) else None


def _form(path: Path) -> str:
    form = table_form(path)
    if form is not None:
        return form
    raise DataError(f"{path}: the ending '{''.join(path.suffixes[-2:])}' is not known; give the file as {_FORMS}")


def _read_file(path: Path, form: str, encoding: str, choose: _Choose) -> Iterator[_Record]:
    try:
        if form == ".parquet":
            yield from _read_parquet(path, choose)
        else:
            with _open_bytes(path) as raw:
                yield from _parse(form, _decoded(raw, encoding), str(path))
    except UnicodeDecodeError as error:
        raise DataError(_not_decodable(str(path), error, _first_bad_byte(path, encoding))) from error
    except UnicodeError as error:
        raise DataError(_no_byte_order(str(path), encoding)) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"{path}: the gzip file is truncated or corrupt ({error}); fetch or compress it again"
        ) from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}); check the file") from error


def _read_stdin(encoding: str) -> Iterator[_Record]:
    name = _shown("-")
    text = _decoded(sys.stdin.buffer, encoding)
    try:
        lines = _lines(text, name)
        head: list[str] = []
        for line in lines:
            head.append(line)
            if line.strip():
                break
        first = head[-1].strip() if head else ""
        is_json = first.startswith("{")
        if not is_json and _is_header(first):
            raise DataError(
                f"{name}: its first line is '{first}', as of a table; standard input takes JSON Lines or one text a "
                "line, so give the table as a file"
            )
        yield from (_read_json_lines if is_json else _read_plain)(itertools.chain(head, lines), name)
    except UnicodeDecodeError as error:
        raise DataError(_not_decodable(name, error, None)) from error
    except UnicodeError as error:
        raise DataError(_no_byte_order(name, encoding)) from error
    finally:
        text.detach()  # or the wrapper would close the process's standard input with itself


def _is_header(line: str) -> bool:
    """Whether a line names columns of a table, a text among them."""
    cells = [cell.strip().strip('"').lower() for cell in re.split(r"[,;\t]", line)]
    others = {*LABEL_COLUMNS, *PAIR_COLUMNS, "id"}
    return any(cell in TEXT_COLUMNS for cell in cells) and any(cell in others for cell in cells)


def _open_bytes(path: Path) -> BinaryIO | gzip.GzipFile:
    return gzip.open(path) if path.suffix.lower() == ".gz" else open(path, "rb")


def _decoded(raw: Any, encoding: str) -> io.TextIOWrapper:
    try:
        is_utf8 = codecs.lookup(encoding).name == "utf-8"
        # newline="" leaves line ends inside quoted CSV cells alone and still splits at \n, \r\n and \r.
        return io.TextIOWrapper(raw, encoding="utf-8-sig" if is_utf8 else encoding, newline="")
    except (LookupError, ValueError) as error:
        raise DataError(f"--encoding: '{encoding}' is not a known text encoding; try utf-8 or latin-1") from error


def _no_byte_order(name: str, encoding: str) -> str:
    choices = f"{encoding}-le, {encoding}-be or utf-8"
    return f"{name}: does not tell its byte order, as {encoding} must; pass --encoding {choices}"


def _not_decodable(name: str, error: UnicodeDecodeError, position: int | None) -> str:
    if error.start == 0 and error.object[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return f"{name}: is UTF-16; pass --encoding utf-16 or convert it to UTF-8"
    where = "" if position is None else f" (byte {position})"
    return f"{name}: is not valid {error.encoding}{where}; pass --encoding latin-1 or convert it to UTF-8"


def _first_bad_byte(path: Path, encoding: str) -> int | None:
    """Where decoding fails, counted from 0 in the uncompressed file: the error itself only knows its own chunk."""
    decoder = codecs.getincrementaldecoder(encoding)()
    offset = 0
    with _open_bytes(path) as raw:
        while True:
            chunk = raw.read(2**20)
            kept = decoder.getstate()[0]
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                return offset - len(kept) + error.start
            if not chunk:
                return None
            offset += len(chunk)


def _lines(text: IO[str], name: str) -> Iterator[str]:
    number = 0
    while line := text.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise DataError(f"{name}: line {number} is longer than {MAX_LINE} characters; split it or check the form")
        if "\0" in line:
            raise DataError(
                f"{name}: line {number} holds a NUL byte; it is not a text file, or needs --encoding utf-16"
            )
        yield line


def _parse(form: str, text: io.TextIOWrapper, name: str) -> Iterator[_Record]:
    if form == ".json":
        return _read_json(text.read(), name)
    lines = _lines(text, name)
    if form in (".csv", ".tsv"):
        return _read_delimited(lines, name, "\t" if form == ".tsv" else ",")
    return _read_plain(lines, name) if form == ".txt" else _read_json_lines(lines, name)


def _read_plain(lines: Iterable[str], name: str) -> Iterator[_Record]:
    for number, line in enumerate(lines, 1):
        yield number, {"text": line.rstrip("\r\n")}


def _read_json_lines(lines: Iterable[str], name: str) -> Iterator[_Record]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield number, _json_object(_json_value(line, f"{name}: line {number}"), f"{name}: line {number}")


def _read_json(text: str, name: str) -> Iterator[_Record]:
    if not text.lstrip().startswith("["):
        yield from _read_json_lines(_lines(io.StringIO(text), name), name)
        return
    for number, item in enumerate(_json_value(text, name), 1):
        yield number, _json_object(item, f"{name}: item {number}")


def _json_value(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where} is not valid JSON ({error}); write one object a line") from error


def _json_object(value: Any, where: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise DataError(
        f'{where} must be a JSON object such as {{"text": ..., "label": ...}}; got a {type(value).__name__}'
    )


def _read_delimited(lines: Iterable[str], name: str, delimiter: str) -> Iterator[_Record]:
    csv.field_size_limit(MAX_LINE)  # the module has one limit for the whole process, and 128 kB by default
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    header: list[str] = []
    start, rows = 1, 0
    try:
        for cells in reader:
            line, start = start, reader.line_num + 1
            if not cells:
                continue
            if not header:
                header = [cell.strip() for cell in cells]
                continue
            # A text with a bare comma would otherwise lose its end without a word.
            if any(cells[len(header) :]):
                raise DataError(
                    f"{name}: line {line} has {len(cells)} cells, the header {len(header)}; put texts with a "
                    "delimiter into double quotes"
                )
            rows += 1
            yield line, dict(itertools.zip_longest(header, cells[: len(header)]))
    except csv.Error as error:
        raise DataError(f"{name}: the row at line {start} is not valid ({error}); check its double quotes") from error
    if header and not rows:
        raise NoRowsError(f"{name}: has a header but no rows; add at least one document")


def _read_parquet(path: Path, choose: _Choose) -> Iterator[_Record]:
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            batches = file.iter_batches(batch_size=1024, columns=choose(file.schema_arrow.names))
            yield from enumerate((record for batch in batches for record in batch.to_pylist()), 1)
    except pyarrow.ArrowException as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{path}: the Parquet file is corrupt ({reason}); write it again") from error
