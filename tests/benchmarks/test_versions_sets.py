"""What is installed into each environment, and which Pythons are found."""

from __future__ import annotations

import sys

import pytest
from packaging.requirements import Requirement

from benchmarks import versions_sets
from benchmarks.environments import ROOT
from benchmarks.versions_sets import (
    BaseSet,
    VersionSet,
    base,
    direct,
    environments,
    interpreters,
    lowest,
    read_project,
    requirements,
)

PROJECT = {
    "project": {
        "name": "masker",
        "requires-python": ">=3.11",
        "dependencies": ["numpy>=1.26"],
        "optional-dependencies": {
            "train": ["torch>=2.6", "masker[plots]"],
            "plots": ["matplotlib>=3.9"],
            "report": ["matplotlib>=3.9"],
            "ray": ["ray[serve]>=2.50"],
            "serve": ["httpx>=0.27"],
        },
    },
    "dependency-groups": {"test": ["pytest"]},
}


@pytest.fixture
def python(tmp_path, monkeypatch):
    """Puts interpreters of these names on PATH that end with this exit code."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def make(name: str, code: int = 0) -> str:
        file = tmp_path / name
        file.write_text(f"#!/bin/sh\nexit {code}\n")
        file.chmod(0o755)
        return str(file)

    return make


def test_each_direct_dependency_once_and_not_masker_itself():
    expected = ["numpy>=1.26", "torch>=2.6", "matplotlib>=3.9", "ray[serve]>=2.50", "httpx>=0.27", "pytest"]
    assert direct(PROJECT) == expected


def test_the_lowest_version_is_the_bound_and_pytorch_the_one_that_is_small():
    expected = ["numpy==1.26", "torch==2.13.0", "matplotlib==3.9", "ray[serve]==2.50", "httpx==0.27", "pytest"]
    assert requirements(direct(PROJECT), "lowest") == expected


def test_the_newest_has_no_bound_from_above_but_for_pytorch():
    assert requirements(direct(PROJECT), "newest") == [*direct(PROJECT)[:1], "torch==2.13.0", *direct(PROJECT)[2:]]


@pytest.mark.parametrize("line", ["numpy<3", "numpy>=1.26,<3", "numpy~=1.26"])
def test_a_bound_that_names_no_lowest_version_is_refused(line):
    with pytest.raises(ValueError, match=r"expected one bound, such as numpy>=1\.0"):
        lowest(line)


def test_every_dependency_of_this_project_has_a_lowest_version():
    tools = read_project()["dependency-groups"]["test"]
    pinned = [line for line in requirements(direct(read_project()), "lowest") if line not in tools]
    assert len(pinned) > 25
    assert all([one.operator for one in Requirement(line).specifier] == ["=="] for line in pinned)


def test_only_the_newest_ages(monkeypatch):
    before = {kind: VersionSet(kind).wanted for kind in ("lowest", "newest")}
    monkeypatch.setattr(versions_sets, "date", type("Later", (), {"today": staticmethod(lambda: "2100-01-01")}))
    assert VersionSet("lowest").wanted == before["lowest"]
    assert VersionSet("newest").wanted != before["newest"]


def test_the_base_package_takes_what_serving_takes_and_no_pytorch():
    assert base(PROJECT) == ["numpy>=1.26", "httpx>=0.27", "pytest"]
    named = {Requirement(line).name for line in BaseSet("base-lowest").lines}
    assert {"onnxruntime", "fastapi", "pytest"} <= named and not {"torch", "transformers"} & named


def test_only_the_lowest_of_the_base_package_is_pinned():
    assert "onnxruntime==" in BaseSet("base-lowest").wanted
    assert "onnxruntime>=" in BaseSet("base-3.12").wanted and BaseSet("base-3.12").wanted.startswith("# 2")


def test_a_folder_and_a_variable_for_each_python(monkeypatch, tmp_path):
    chosen = BaseSet("base-3.12")
    monkeypatch.delenv("MASKER_BASE_3_12_VENV", raising=False)
    assert chosen.folder == ROOT / ".venv-base-3.12"
    monkeypatch.setenv("MASKER_BASE_3_12_VENV", str(tmp_path))
    assert chosen.folder == tmp_path


def test_pythons_are_those_on_the_path_that_start_and_are_admitted(python):
    """pyenv has a script of each name, which ends with 127 for a version that is not switched on."""
    newer = python("python3.12")
    python("python3.10")
    python("python3.13", code=127)
    assert interpreters(PROJECT) == {"3.12": newer}
    sets = environments()
    assert list(sets) == ["lowest", "newest", "base-lowest", "base-3.12"]
    assert sets["base-3.12"].interpreter == newer and sets["base-lowest"].interpreter == sys.executable


@pytest.mark.parametrize("chosen", [VersionSet("newest"), BaseSet("base-3.12", "/usr/bin/python3.12")])
def test_installed_with_its_python_and_then_stamped(chosen, monkeypatch, tmp_path):
    monkeypatch.setenv(chosen.variable, str(tmp_path))
    commands = []
    monkeypatch.setattr(versions_sets.subprocess, "run", lambda command, check: commands.append(command))
    chosen.make()
    assert commands[0] == [chosen.interpreter, "-m", "venv", str(tmp_path)]
    assert commands[1][-2:] == ["-r", str(tmp_path / "requirements.txt")] and "--upgrade" in commands[1]
    assert commands[-1][-3:] == ["--no-deps", "-e", str(ROOT)]
    assert (versions_sets.EMBEDDED in commands[2]) == (chosen.package == "newest"), "the backbone is for training"
    assert chosen.stamp.read_text() == chosen.wanted
