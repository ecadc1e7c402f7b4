"""From bytes to lines of text: gzip, encodings, and limits that a damaged file runs into."""

from __future__ import annotations

import codecs
import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

from masker.errors import DataError

#: The longest line to read, in characters; a longer one is more likely a wrong or damaged file than a document.
MAX_LINE = 64 * 2**20
#: The largest JSON array, which is read at once; a small gzip file may hold any number of characters.
MAX_ARRAY = 2**30


def open_bytes(path: Path) -> BinaryIO | gzip.GzipFile:
    """Open a file for reading, decompressed if its name ends in ``.gz``."""
    return gzip.open(path) if path.suffix.lower() == ".gz" else open(path, "rb")


def as_text_stream(raw: Any, encoding: str) -> io.TextIOWrapper:
    """A text stream over a byte stream; a UTF-8 byte order mark is dropped."""
    try:
        is_utf8 = codecs.lookup(encoding).name == "utf-8"
        # newline="" preserves line ends inside quoted CSV cells and still splits at \n, \r\n and \r.
        return io.TextIOWrapper(raw, encoding="utf-8-sig" if is_utf8 else encoding, newline="")
    except (LookupError, ValueError) as error:
        raise DataError(f"--encoding: '{encoding}' is not a known text encoding; try utf-8 or latin-1") from error


def bounded_lines(text: IO[str], name: str) -> Iterator[str]:
    """Yield lines without ever holding more than :data:`MAX_LINE` characters."""
    number = 0
    while line := text.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise DataError(f"{name}: line {number} is longer than {MAX_LINE} characters; split it or check the format")
        if "\0" in line:
            raise DataError(
                f"{name}: line {number} contains a NUL byte; it is not a text file, or needs --encoding utf-16"
            )
        yield line


@contextmanager
def decoding_errors(name: str, encoding: str, path: Path | None = None) -> Iterator[None]:
    """Turn decoding errors into a DataError, which gives the position of the bad byte if there is a ``path``."""
    try:
        yield
    except UnicodeError as error:
        # A plain UnicodeError until Python 3.12; from 3.13 on a UnicodeDecodeError whose reason says it.
        if not isinstance(error, UnicodeDecodeError) or error.reason.endswith("does not start with BOM"):
            raise DataError(
                f"{name}: has no byte order mark, which {encoding} requires; "
                f"pass --encoding {encoding}-le, {encoding}-be or utf-8"
            ) from error
        if error.start == 0 and error.object[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            raise DataError(f"{name}: is UTF-16; pass --encoding utf-16 or convert it to UTF-8") from error
        position = None if path is None else _first_bad_byte(path, encoding)
        where = "" if position is None else f" (byte {position})"
        raise DataError(
            f"{name}: is not valid {error.encoding}{where}; pass --encoding latin-1 or convert it to UTF-8"
        ) from error


def _first_bad_byte(path: Path, encoding: str) -> int | None:
    """Where decoding fails, from 0 in the uncompressed file; the error itself counts from the start of its chunk."""
    decoder = codecs.getincrementaldecoder(encoding)()
    offset = 0
    with open_bytes(path) as raw:
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
