import gzip
import subprocess
import sys

import pytest

from masker.documents.sources import short_name
from masker.errors import DataError
from tests.documents.conftest import read, refuse

pytestmark = pytest.mark.usefixtures("no_corpora")


def test_missing_files(put, tmp_path):
    put("train.csv", "text,label\na,b\n")
    refuse(
        tmp_path / "trian.csv", r"trian.csv': there is no such file or folder; check the path. Did you mean 'train.csv'"
    )
    refuse(tmp_path / "nowhere" / "x", "nowhere/x': there is no such file or folder")
    refuse("", "'': there is no such file or folder")


def test_a_file_comes_before_a_corpus_and_a_corpus_before_a_folder(monkeypatch, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    with gzip.open(data / "imdb.train.jsonl.gz", "wt") as file:
        file.write('{"text": "a corpus", "label": "x"}\n')
    monkeypatch.setenv("MASKER_DATA", str(data))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "imdb").mkdir()
    (tmp_path / "imdb" / "train.csv").write_text("text,label\na folder,x\n")
    assert read("imdb").texts == ["a corpus"]
    assert read("imdb:train").texts == ["a corpus"]
    assert read("./imdb").texts == ["a folder"]
    (tmp_path / "imdb" / "train.csv").unlink()
    (tmp_path / "imdb").rmdir()
    (tmp_path / "imdb").write_text("x")
    with pytest.raises(DataError, match="imdb: the ending '' is not known"):
        read("imdb")


def test_a_missing_file_is_not_taken_for_a_hub_id(monkeypatch, tmp_path):
    """``owner/name.csv`` would be a valid id, but the ending tells what the user meant."""
    monkeypatch.chdir(tmp_path)
    for name in ("owner/name.csv", "name.parquet", "name.gz"):
        refuse(name, f"'{name}': there is no such file or folder")


def test_corpora_are_utf8_whatever_the_encoding_of_files(monkeypatch, tmp_path):
    with gzip.open(tmp_path / "toy.train.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write('{"text": "caf\u00e9", "label": "x"}\n')
    monkeypatch.setenv("MASKER_DATA", str(tmp_path))
    assert read("toy", encoding="latin-1").texts == ["caf\u00e9"]


def test_importing_the_package_is_cheap():
    heavy = ("torch", "transformers", "datasets", "pyarrow", "pandas")
    code = f"import sys, masker.documents; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("source", "short"),
    [
        ("/a/b/shop.test.jsonl.gz", "shop.test"),
        ("x.csv (genre=a/b)", "x (genre=a/b)"),
        ("20newsgroups:test", "20newsgroups:test"),
        ("owner/name:train", "name:train"),
        ("standard input", "standard input"),
        ("", ""),
    ],
)
def test_short_names(source, short):
    assert short_name(source) == short
