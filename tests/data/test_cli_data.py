import gzip
import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from masker.cli.data import data


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("MASKER_DATA", str(tmp_path))
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "cache"))
    for split in ("test", "train"):
        with gzip.open(tmp_path / f"toy.{split}.jsonl.gz", "wt") as file:
            file.write('{"text": "a", "label": "b"}\n')
    return tmp_path


def test_list_as_table_and_json():
    table = CliRunner().invoke(data, ["list"])
    assert table.exit_code == 0
    assert "toy" in table.stdout
    assert "11,293" in table.stdout
    listed = json.loads(CliRunner().invoke(data, ["list", "--json"]).stdout)
    assert {"name": "toy", "splits": ["train", "test"], "rows": None, "location": "MASKER_DATA"} in listed


def test_fetch_prints_one_path_a_line(folder):
    result = CliRunner().invoke(data, ["fetch", "toy"])
    assert result.stdout.splitlines() == [str(folder / f"toy.{split}.jsonl.gz") for split in ("train", "test")]


def test_fetch_of_an_unknown_corpus():
    result = CliRunner().invoke(data, ["fetch", "toyy"])
    assert "no corpus 'toyy'" in str(result.exception)


def test_importing_the_data_package_is_cheap():
    heavy = ("torch", "transformers", "datasets", "pyarrow", "pandas")
    code = f"import sys, masker.data; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
