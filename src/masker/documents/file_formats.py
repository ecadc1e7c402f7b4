"""Files as numbered records: CSV, TSV, JSON Lines, JSON, plain text (each also gzipped), Parquet, standard input.

Records are streamed, so memory does not grow with the file, except for a JSON array, which is read at once. An array
may be an export of Label Studio.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from masker.documents import decoding
from masker.documents.columns import LABEL_COLUMNS, PAIR_COLUMNS, TEXT_COLUMNS, ChooseColumns, Record
from masker.documents.label_studio import from_task
from masker.errors import DataError, NoRowsError
from masker.extras import require

#: The formats that are surely tables of documents; a .json or .txt file beside them is often something else.
TABLE_FORMATS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")

_TEXT_FORMATS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".txt")


def table_format(path: Path) -> str | None:
    """The format of a file by its ending, ``.csv`` for ``a.csv.gz``, or ``None`` if it cannot be read."""
    inner = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    ending = inner.suffix.lower()
    return ending if ending in _TEXT_FORMATS or (ending == ".parquet" and inner is path) else None


def read_file(path: Path, encoding: str, choose: ChooseColumns) -> Iterator[Record]:
    """Yield the records of an existing file; only formats that can skip columns (Parquet) use ``choose``."""
    ending = table_format(path)
    if ending is None:
        raise DataError(
            f"{path}: the ending '{''.join(path.suffixes[-2:])}' is not known; "
            "give the file as CSV, TSV, JSONL, NDJSON, JSON, TXT (each also .gz) or Parquet"
        )
    return _records(path, ending, encoding, choose)


def read_stdin(encoding: str, name: str) -> Iterator[Record]:
    """Yield the records of standard input: JSON Lines, or one text per line."""
    text = decoding.as_text_stream(sys.stdin.buffer, encoding)
    try:
        with decoding.decoding_errors(name, encoding):
            lines = decoding.bounded_lines(text, name)
            head: list[str] = []
            for line in lines:
                head.append(line)
                if line.strip():
                    break
            first = head[-1].strip() if head else ""
            is_json = first.startswith("{")
            if not is_json and _is_header(first):
                raise DataError(
                    f"{name}: the first line, '{first}', looks like a table header; standard input takes JSON Lines or "
                    "one text per line; give the table as a file"
                )
            yield from (_json_lines if is_json else _plain_lines)(itertools.chain(head, lines), name)
    finally:
        text.detach()  # otherwise the wrapper closes standard input when it is garbage collected


def _is_header(line: str) -> bool:
    """Whether a line names columns of a table, one of them a text column."""
    cells = [cell.strip().strip('"').lower() for cell in re.split(r"[,;\t]", line)]
    others = {*LABEL_COLUMNS, *PAIR_COLUMNS, "id"}
    return any(cell in TEXT_COLUMNS for cell in cells) and any(cell in others for cell in cells)


def _records(path: Path, ending: str, encoding: str, choose: ChooseColumns) -> Iterator[Record]:
    try:
        if ending == ".parquet":
            yield from _parquet(path, choose)
        else:
            with decoding.open_bytes(path) as raw, decoding.decoding_errors(str(path), encoding, path):
                yield from _parse(ending, decoding.as_text_stream(raw, encoding), str(path))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"{path}: the gzip file is truncated or corrupt ({error}); download or compress it again"
        ) from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}); check the file") from error


def _parse(ending: str, text: io.TextIOWrapper, name: str) -> Iterator[Record]:
    if ending == ".json":
        content = text.read(decoding.MAX_ARRAY + 1)
        if len(content) > decoding.MAX_ARRAY:
            raise DataError(f"{name}: is longer than {decoding.MAX_ARRAY} characters; write it as JSON Lines (.jsonl)")
        return _json(content, name)
    lines = decoding.bounded_lines(text, name)
    if ending in (".csv", ".tsv"):
        return _delimited(lines, name, "\t" if ending == ".tsv" else ",")
    return _plain_lines(lines, name) if ending == ".txt" else _json_lines(lines, name)


def _plain_lines(lines: Iterable[str], name: str) -> Iterator[Record]:
    for number, line in enumerate(lines, 1):
        yield number, {"text": line.rstrip("\r\n")}


def _json_lines(lines: Iterable[str], name: str) -> Iterator[Record]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield number, _json_object(_json_value(line, f"{name}: line {number}"), f"{name}: line {number}")


def _json(text: str, name: str) -> Iterator[Record]:
    if not text.lstrip().startswith("["):
        yield from _json_lines(decoding.bounded_lines(io.StringIO(text), name), name)
        return
    for number, item in enumerate(_json_value(text, name), 1):
        yield number, from_task(_json_object(item, f"{name}: item {number}"))


def _json_value(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where} is not valid JSON ({error}); write one object per line") from error


def _json_object(value: Any, where: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise DataError(
        f'{where} must be a JSON object such as {{"text": ..., "label": ...}}; got a {type(value).__name__}'
    )


def _delimited(lines: Iterable[str], name: str, delimiter: str) -> Iterator[Record]:
    csv.field_size_limit(decoding.MAX_LINE)  # one limit for the whole process, 128 kB by default
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
            # Otherwise a text with an unquoted comma would silently lose its end.
            if any(cells[len(header) :]):
                raise DataError(
                    f"{name}: line {line} has {len(cells)} cells, the header {len(header)}; put texts that contain the "
                    "delimiter in double quotes"
                )
            rows += 1
            yield line, dict(itertools.zip_longest(header, cells[: len(header)]))
    except csv.Error as error:
        raise DataError(f"{name}: the row at line {start} is not valid ({error}); check its double quotes") from error
    if header and not rows:
        raise NoRowsError(f"{name}: has a header but no rows; add at least one document")


def _parquet(path: Path, choose: ChooseColumns) -> Iterator[Record]:
    pyarrow = require("a Parquet file", "pyarrow", "pyarrow.parquet")
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            batches = file.iter_batches(batch_size=1024, columns=list(choose(file.schema_arrow.names)))
            yield from enumerate((record for batch in batches for record in batch.to_pylist()), 1)
    except pyarrow.ArrowException as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{path}: the Parquet file is corrupt ({reason}); write it again") from error
