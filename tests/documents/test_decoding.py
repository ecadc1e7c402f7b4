import gzip
import io

import pytest

from masker.documents import decoding
from masker.errors import DataError
from tests.documents.conftest import read, refuse

CSV = 'text,label\ngood film,pos\n\n"bad, dull film",neg\n'


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
    refuse(bare, "has no byte order mark, which utf-16 requires; pass --encoding utf-16-le, ", encoding="utf-16")
    assert read(bare, encoding="utf-16-le").labels == ["pos", "neg"]
    refuse(path, "--encoding: 'klingon' is not a known text encoding; try utf-8 or latin-1", encoding="klingon")


def test_nul_bytes(put):
    refuse(
        put("x.csv", "text,label\na\0b,1\n"), "x.csv: line 2 contains a NUL byte; it is not a text file, or needs --enc"
    )


def test_overlong_lines(put, monkeypatch):
    monkeypatch.setattr(decoding, "MAX_LINE", 100)
    refuse(put("x.txt", "a\n" + "b" * 101), "x.txt: line 2 is longer than 100 characters; split it", labels=False)
    refuse(put("x.csv", "text,label\n" + "b" * 101), "line 2 is longer than 100 characters")
    refuse(put("x.csv", 'text,label\na,1\n"' + "b\n" * 200), r"the row at line 3 is not valid \(field larger than")
    assert read(put("x.txt", "a" * 100), labels=False).texts == ["a" * 100]


def test_an_overlong_line_is_not_read_whole(monkeypatch):
    """Ten times the limit in one line: the reader asks for one character more than the limit, and never again."""
    monkeypatch.setattr(decoding, "MAX_LINE", 10_000)
    raw = io.BytesIO(b"x" * 100_000)
    text = io.TextIOWrapper(raw)
    with pytest.raises(DataError, match="line 1 is longer"):
        list(decoding.bounded_lines(text, "x"))
    assert raw.tell() < 30_000


def test_damaged_gzip(put, tmp_path):
    whole = gzip.compress(b'{"text": "a"}\n' * 10_000)
    for name, content in {"cut": whole[:-20], "plain": b'{"text": "a"}\n', "mess": whole[:40] + b"\xff" * 40}.items():
        path = tmp_path / f"{name}.jsonl.gz"
        path.write_bytes(content)
        refuse(
            path,
            rf"{name}.jsonl.gz: the gzip file is truncated or corrupt \(.*\); download or compress it again",
            labels=False,
        )


def test_a_file_that_cannot_be_opened(put, monkeypatch):
    def denied(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(decoding, "open_bytes", denied)
    refuse(put("x.csv", CSV), r"x.csv: cannot be read \(Permission denied\); check the file")
