import hashlib
import json
import os
import shutil
import sys

import pytest

from masker import files
from masker.files import atomic_folder, atomic_path, atomic_writer, file_sha256, folder_sha256, write_json, write_text


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_when_it_is_complete(tmp_path):
    target = tmp_path / "new" / "file.txt"
    with atomic_writer(target) as file:
        file.write("café")
        file.flush()
        assert not target.exists()
    assert target.read_text(encoding="utf-8") == "café"
    assert target.stat().st_mode & 0o777 == 0o644
    assert names(target.parent) == ["file.txt"]


def test_a_write_that_fails_keeps_the_old_file(tmp_path):
    target = tmp_path / "file.txt"
    write_text(target, "old")
    with pytest.raises(TypeError), atomic_writer(target) as file:
        file.writelines(["half", None])
    with pytest.raises(TypeError), atomic_path(target) as temporary, temporary.open("wb") as raw:
        raw.writelines([b"half", None])
    assert target.read_text() == "old"
    assert names(tmp_path) == ["file.txt"]


def test_line_ends_are_left_to_the_writer(tmp_path):
    with atomic_writer(tmp_path / "file.csv", newline="") as file:
        file.write("a\r\nb\n")
    assert (tmp_path / "file.csv").read_bytes() == b"a\r\nb\n"


def test_json_is_readable(tmp_path):
    write_json(tmp_path / "file.json", {"ä": [1]})
    content = (tmp_path / "file.json").read_text(encoding="utf-8")
    assert content == '{\n "ä": [\n  1\n ]\n}\n'
    with pytest.raises(TypeError):
        write_json(tmp_path / "file.json", {"a": set()})
    assert json.loads((tmp_path / "file.json").read_text(encoding="utf-8")) == {"ä": [1]}


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    target = tmp_path / "deep" / "model"
    for content in ("first", "second"):
        with atomic_folder(target) as temporary:
            (temporary / content).touch()
            assert not (target / content).exists()
        assert names(target) == [content]
    assert target.stat().st_mode & 0o777 == 0o755
    assert names(target.parent) == ["model"]


def test_a_folder_that_fails_keeps_the_old_one(tmp_path):
    target = tmp_path / "model"
    target.mkdir()
    (target / "old").touch()
    with pytest.raises(FileNotFoundError), atomic_folder(target) as temporary:
        shutil.copy(target / "old", temporary / "new" / "old")
    assert names(target) == ["old"]
    assert names(tmp_path) == ["model"]


def test_a_swap_that_fails_puts_the_old_folder_back(tmp_path, monkeypatch):
    target = tmp_path / "model"
    target.mkdir()
    (target / "old").touch()
    replace, calls = os.replace, []

    def second_fails(source, to):
        calls.append(source)
        if len(calls) == 2:
            raise OSError("disk full")
        replace(source, to)

    monkeypatch.setattr(files.os, "replace", second_fails)
    monkeypatch.setattr(files, "_exchanged", lambda one, other: False)  # as on systems that cannot
    with pytest.raises(OSError, match="disk full"), atomic_folder(target) as temporary:
        (temporary / "new").touch()
    assert len(calls) == 3
    assert names(target) == ["old"]
    assert names(tmp_path) == ["model"]


@pytest.mark.skipif(sys.platform != "linux", reason="two renames there")
def test_a_folder_is_replaced_in_one_step(tmp_path, monkeypatch):
    """Killed between two renames, a process would leave nothing under the name."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "old").touch()
    monkeypatch.setattr(files.os, "replace", lambda source, to: pytest.fail("a rename"))
    with atomic_folder(tmp_path / "model") as temporary:
        (temporary / "new").touch()
    assert names(tmp_path / "model") == ["new"]
    assert names(tmp_path) == ["model"]


def test_an_existing_folder_can_be_kept(tmp_path):
    target = tmp_path / "model"
    with atomic_folder(target, keep_existing=True) as temporary:
        (temporary / "ours").touch()
        target.mkdir()
        (target / "theirs").touch()
    assert names(target) == ["theirs"]
    assert names(tmp_path) == ["model"]
    with atomic_folder(tmp_path / "other", keep_existing=True) as temporary:
        (temporary / "ours").touch()
    assert names(tmp_path / "other") == ["ours"]


def test_keeping_a_folder_does_not_hide_other_errors(tmp_path, monkeypatch):
    def fail(source, to):
        raise OSError("disk full")

    monkeypatch.setattr(files.os, "replace", fail)
    with pytest.raises(OSError, match="disk full"), atomic_folder(tmp_path / "model", keep_existing=True):
        pass
    assert names(tmp_path) == []


def test_checksums_of_files(tmp_path):
    """More than one block of 1 MiB, and several files one after the other."""
    content = b"0123456789" * 150_000
    (tmp_path / "a").write_bytes(content)
    (tmp_path / "b").write_bytes(b"b")
    assert file_sha256(tmp_path / "a") == hashlib.sha256(content).hexdigest()
    assert file_sha256(tmp_path / "a", tmp_path / "b") == hashlib.sha256(content + b"b").hexdigest()
    assert file_sha256() == hashlib.sha256().hexdigest()


def test_the_checksum_of_a_folder_sees_names_and_contents(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        (folder / "deep").mkdir(parents=True)
        (folder / "deep" / "file").write_text("x")
        (folder / "other").write_text("y")
    digest = folder_sha256(one)
    assert folder_sha256(two) == digest
    (two / "other").write_text("z")
    assert folder_sha256(two) != digest
    (one / "other").rename(one / "another")
    assert folder_sha256(one) != digest
