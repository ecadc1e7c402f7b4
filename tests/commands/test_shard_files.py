"""Which files are shards, what they become, and the records of outputs."""

from __future__ import annotations

import pytest

from masker.commands.shard_files import Shard, find_shards, finished_rows, forget_origin, write_origin
from masker.errors import ConfigError, DataError
from masker.files import folder_sha256


@pytest.fixture
def folder(tmp_path):
    names = "a.csv b.jsonl.gz c.PARQUET notes.txt info.json _temporary/x.csv .hidden.csv sub/a.ndjson sub/deep/t.tsv"
    for name in names.split():
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path / "in"


def names(shards: list[Shard]) -> list[str]:
    return [shard.name for shard in shards]


def test_a_folder_is_searched_for_tables(folder, tmp_path):
    shards = find_shards(str(folder), tmp_path / "out", "jsonl")
    assert names(shards) == ["a.jsonl", "b.jsonl", "c.jsonl", "sub/a.jsonl", "sub/deep/t.jsonl"]
    assert shards[1].source == str(folder / "b.jsonl.gz")


def test_sources_are_absolute_because_workers_have_other_folders(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    assert find_shards("in", folder.parent / "out", "csv")[0] == Shard(str(folder / "a.csv"), "a.csv")


def test_a_pattern_names_files_from_its_first_star_on(folder, tmp_path):
    found = find_shards(str(folder / "sub" / "**" / "*"), tmp_path / "out", "jsonl")
    assert names(found) == ["a.jsonl", "deep/t.jsonl"]
    assert names(find_shards(str(folder / "[ab].*"), tmp_path / "out", "csv")) == ["a.csv", "b.csv"]


def test_a_pattern_may_name_texts(folder, tmp_path):
    assert names(find_shards(str(folder / "n*.txt"), tmp_path / "out", "jsonl")) == ["notes.jsonl"]


def test_results_inside_the_input_are_no_input(folder):
    (folder / "out").mkdir()
    (folder / "out" / "a.jsonl").touch()
    assert "out/a.jsonl" not in names(find_shards(str(folder), folder / "out", "jsonl"))


def test_two_shards_of_one_name_are_refused(folder, tmp_path):
    (folder / "a.tsv").touch()
    with pytest.raises(ConfigError, match=r"a.tsv' and '.*a.csv' would both become a.jsonl; rename"):
        find_shards(str(folder), tmp_path / "out", "jsonl")


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ("in", ConfigError, "is also the input folder"),
        ("nowhere", DataError, "no such folder"),
        ("in/a.csv", ConfigError, "takes a folder or a pattern"),
        ("in/*.nothing", DataError, "no shards found"),
        ("in/*.json", DataError, "no shards found"),
        ("in/*", DataError, "not a supported table format"),
    ],
)
def test_a_bad_input_is_one_line(folder, tmp_path, data, error, message):
    (folder / "info.json").unlink()
    (folder / "picture.png").touch()
    output = folder if data == "in" else tmp_path / "out"
    with pytest.raises(error, match=message) as caught:
        find_shards(str(tmp_path / data), output, "jsonl")
    assert "\n" not in str(caught.value)


def test_fingerprint_of_a_model_sees_names_and_contents(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "weights").write_bytes(b"1")
    first = folder_sha256(tmp_path)
    assert folder_sha256(tmp_path) == first
    (tmp_path / "sub" / "weights").rename(tmp_path / "sub" / "other")
    renamed = folder_sha256(tmp_path)
    (tmp_path / "sub" / "other").write_bytes(b"2")
    assert len({first, renamed, folder_sha256(tmp_path)}) == 3


def test_a_record_vouches_for_what_it_was_made_from_only(tmp_path):
    shard, made_from = Shard("/in/a.csv", "sub/a.jsonl"), {"model_sha256": "1"}
    (tmp_path / "sub").mkdir()
    (tmp_path / shard.name).write_text("row\n")
    assert finished_rows(tmp_path, shard.name, made_from) is None
    write_origin(tmp_path, shard, made_from, 1, {})
    assert finished_rows(tmp_path, shard.name, made_from) == 1
    assert finished_rows(tmp_path, shard.name, {"model_sha256": "2"}) is None
    (tmp_path / shard.name).write_text("row\nrow")
    assert finished_rows(tmp_path, shard.name, made_from) is None, "it has another size now"
    assert forget_origin(tmp_path, shard.name)
    assert not forget_origin(tmp_path, shard.name)
