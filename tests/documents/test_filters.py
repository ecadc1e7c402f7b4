import gzip
import json

import pytest

from masker.config import DataSettings, build_settings
from masker.documents import read_documents, stream_rows
from masker.documents.filters import parse_where
from masker.errors import ConfigError, DataError, NoRowsError

ROWS = [
    {
        "text": f"text {i}",
        "label": "ab"[i % 2],
        "genre": ["telephone", "letters", "fiction"][i % 3],
        "year": 2000 + i % 2,
    }
    for i in range(6)
]


@pytest.fixture(params=["jsonl", "json", "csv", "parquet", "folder", "saved", "corpus"])
def source(request, tmp_path, monkeypatch):
    """The same six rows in each form that can be read."""
    monkeypatch.delenv("MASKER_DATA", raising=False)
    form, path = request.param, tmp_path / f"rows.{request.param}"
    if form in ("jsonl", "folder"):
        path = path if form == "jsonl" else tmp_path / "folder" / "train.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
        return path if form == "jsonl" else path.parent
    if form == "json":
        path.write_text(json.dumps(ROWS))
    elif form == "csv":
        path.write_text("\n".join([",".join(ROWS[0]), *(",".join(map(str, row.values())) for row in ROWS)]))
    elif form == "corpus":
        monkeypatch.setenv("MASKER_DATA", str(tmp_path))
        with gzip.open(tmp_path / "mine.test.jsonl.gz", "wt") as file:
            file.write("".join(json.dumps(row) + "\n" for row in ROWS))
        return "mine:test"
    else:
        datasets = pytest.importorskip("datasets")
        monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hf")
        table = datasets.Dataset.from_list(ROWS)
        table.to_parquet(path) if form == "parquet" else table.save_to_disk(path)
    return path


def read(source, **where):
    return read_documents(source, DataSettings(where=where), require_labels=True)


def test_rows_with_one_of_the_values(source):
    documents = read(source, genre=["telephone", "fiction"])
    assert documents.texts == ["text 0", "text 2", "text 3", "text 5"]
    assert documents.labels == ["a", "a", "b", "b"]
    assert documents.name == f"{source} (genre=telephone,fiction)"


def test_one_file_of_many_may_lack_a_value(source):
    where = DataSettings(where={"genre": ["letters", "poetry"]})
    assert len(list(stream_rows(source, where, every_value=False))) == 2
    with pytest.raises(NoRowsError, match="poetry"):
        list(stream_rows(source, where))
    with pytest.raises(NoRowsError, match="poetry"):
        list(stream_rows(source, DataSettings(where={"genre": ["poetry"]}), every_value=False))


def test_all_columns_must_match_and_numbers_are_written_out(source):
    assert read(source, genre=["letters"], year=["2000"]).texts == ["text 4"]
    assert read(source, label=["b"], GENRE=["letters"]).texts == ["text 1"]


def test_unknown_column_and_value(source):
    with pytest.raises(DataError) as caught:
        read(source, gene=["letters"])
    assert str(caught.value) == (
        f"{source}: has no column 'gene' to filter by; its columns are: text, label, genre, year. Did you mean 'genre'?"
    )
    with pytest.raises(DataError) as caught:
        read(source, genre=["letters", "telefone"])
    assert str(caught.value) == (
        f"{source}: no row has the value 'telefone' in column 'genre'; its values are: fiction, letters, telephone. "
        "Did you mean 'telephone'?"
    )


def test_values_that_never_meet(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text('{"text": "a", "label": "x", "genre": "g"}\n{"text": "b", "label": "y", "genre": "h"}\n')
    with pytest.raises(DataError, match=r"no row meets all conditions \(genre=g; label=y\); drop one of them"):
        read(path, genre=["g"], label=["y"])


def test_cells_that_are_empty_or_missing_match_nothing(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text('{"text": "a", "genre": null}\n{"text": "b"}\n{"text": "c", "genre": ""}\n')
    with pytest.raises(DataError, match="no row has the value 'g' in column 'genre'; its values are: none, all its"):
        list(stream_rows(path, DataSettings(where={"genre": ["g"]})))


def test_limit_counts_the_rows_that_match(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    settings = DataSettings(where={"genre": ["letters"]}, limit=2)
    assert read_documents(path, settings, require_labels=True).texts == ["text 1", "text 4"]


def test_an_empty_source_says_so(tmp_path):
    (tmp_path / "d.jsonl").write_text("")
    with pytest.raises(DataError, match="has no rows"):
        read(tmp_path / "d.jsonl", genre=["x"])


def test_conditions_of_the_command_line():
    assert parse_where([]) is None
    assert parse_where(["genre=telephone, letters", "year = 2001", "genre=oup"]) == {
        "genre": ["telephone", "letters", "oup"],
        "year": ["2001"],
    }
    for bad in ("genre", "=x", "genre=", "genre=a,,b"):
        with pytest.raises(ConfigError, match=r"--where takes COLUMN=VALUE\[,VALUE...\], such as genre=telephone; got"):
            parse_where([bad])


def test_settings_from_files_and_overrides():
    assert build_settings(overrides=["data.where={genre: [telephone]}"]).data.where == {"genre": ["telephone"]}
    assert DataSettings().where is None
    with pytest.raises(ConfigError, match=r"data.where.genre: list should have at least 1 item"):
        build_settings({"data": {"where": {"genre": []}}})
