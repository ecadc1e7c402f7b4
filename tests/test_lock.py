"""The lock: every package with hashes, and the tool that writes it."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "requirements.lock"


@pytest.fixture(scope="module")
def tool():
    pytest.importorskip("pip._internal.index.collector", reason="pip is not installed here")
    spec = importlib.util.spec_from_file_location("lock", ROOT / "tools" / "lock.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_package_of_the_lock_is_pinned_and_has_a_hash():
    lines = LOCK.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    assert len(lines) > 100
    for line in lines:
        assert re.fullmatch(r"[\w.-]+==[\w.!+-]+(\s+--hash=sha256:[0-9a-f]{64})+", line), line[:80]


def test_torch_alone_is_pinned_by_version():
    [line] = (ROOT / "requirements-torch.lock").read_text(encoding="utf-8").splitlines()
    assert re.fullmatch(r"torch==[\d.]+", line)
    assert not re.search("^torch==", LOCK.read_text(encoding="utf-8"), re.M)


def test_setup_requires_hashes():
    assert "--no-deps --require-hashes -r requirements.lock" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_what_is_written_is_read(tool):
    locked = {"a==1": {"0" * 64, "f" * 64}, "b==2.0": {"1" * 64}}
    assert tool.read_lock(tool.write_lock(locked)) == locked
    assert tool.read_lock("a==1\n# a word\n\n") == {"a==1": set()}


def test_all_files_of_a_version_in_indexes_and_folders_count(tool, tmp_path, monkeypatch):
    """An index with two files of version 1.0 and one of 1.0.1, and a folder with a build of 1.0."""
    page = tmp_path / "simple" / "some-package" / "index.html"
    page.parent.mkdir(parents=True)
    names = ["some_package-1.0-py3-none-any.whl", "some_package-1.0.tar.gz", "some_package-1.0.1.tar.gz", "notes.txt"]
    links = "".join(f'<a href="{name}#sha256={digit * 64}">{name}</a>' for digit, name in enumerate_digits(names))
    page.write_text(f"<!DOCTYPE html><html><body>{links}</body></html>")
    build = tmp_path / "folder" / "some_package-1.0+cpu-py3-none-any.whl"
    build.parent.mkdir()
    build.write_bytes(b"a build of its own")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "simple").as_uri())
    monkeypatch.setenv("PIP_FIND_LINKS", str(build.parent))
    own = hashlib.sha256(build.read_bytes()).hexdigest()
    assert tool.hashes_of(tool.make_collector(), "Some.Package==1.0") == {"0" * 64, "1" * 64, own}
    assert tool.hashes_of(tool.make_collector(), "Some.Package==3") == set()
    assert tool.hashes_of(tool.make_collector(), "Some.Package @ file:///x") == set()


def enumerate_digits(names):
    return [(str(place), name) for place, name in enumerate(names)]
