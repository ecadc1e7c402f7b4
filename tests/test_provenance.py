import json
import subprocess
from pathlib import Path

import pytest

import masker
from masker import provenance as module
from masker.provenance import provenance, source_commit


@pytest.fixture(autouse=True)
def _fresh():
    source_commit.cache_clear()
    yield
    source_commit.cache_clear()


def git(folder, *arguments):
    identity = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org"]
    done = subprocess.run(["git", "-C", str(folder), *identity, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A repository that contains the module."""
    git(tmp_path, "init", "--quiet")
    source = tmp_path / "provenance.py"
    source.write_text("x = 1\n")
    git(tmp_path, "add", "provenance.py")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    monkeypatch.setattr(module, "__file__", str(source))
    return tmp_path


def test_the_record_is_json_with_versions_and_extras():
    record = json.loads(json.dumps(provenance(seed=3)))
    assert record["seed"] == 3
    assert record["versions"]["masker"] == masker.__version__
    assert {"created", "python", "machine"} <= set(record)
    assert record["created"].endswith("+00:00")


def test_packages_that_are_not_installed_are_left_out(monkeypatch):
    monkeypatch.setattr(module, "_PACKAGES", ("masker", "no-such-package-anywhere"))
    assert list(provenance()["versions"]) == ["masker"]


def test_the_commit_of_a_checkout_and_its_changes(checkout):
    commit = git(checkout, "rev-parse", "HEAD")
    assert source_commit() == commit
    (checkout / "untracked").touch()
    source_commit.cache_clear()
    assert source_commit() == commit
    (checkout / "provenance.py").write_text("x = 2\n")
    source_commit.cache_clear()
    assert source_commit() == f"{commit} with local changes"


def test_a_repository_around_an_installed_package_is_not_its_source(checkout, monkeypatch):
    installed = checkout / "site-packages" / "provenance.py"
    installed.parent.mkdir()
    installed.touch()
    monkeypatch.setattr(module, "__file__", str(installed))
    assert source_commit() is None


def test_without_git_there_is_no_commit(monkeypatch):
    monkeypatch.setenv("PATH", str(Path("/nowhere")))
    assert source_commit() is None
