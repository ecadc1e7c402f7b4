"""Which versions are asked for, what is read from a report, and what the page says of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from benchmarks import versions
from benchmarks.drift_page import write_tables
from benchmarks.trust_results import PAGE
from benchmarks.versions import TOP, VersionSet, direct, installed, lowest, outcomes, read_project, requirements, suite
from benchmarks.versions_page import TABLES, failures_text, measured, suites_table, versions_table

PROJECT = {
    "project": {
        "name": "masker",
        "dependencies": ["numpy>=1.26"],
        "optional-dependencies": {
            "train": ["torch>=2.6", "masker[plots]"],
            "plots": ["matplotlib>=3.9"],
            "report": ["matplotlib>=3.9"],
            "ray": ["ray[serve]>=2.50"],
        },
    },
    "dependency-groups": {"test": ["pytest"]},
}
REPORT = """<testsuites><testsuite>
<testcase file="tests/test_a.py" name="test_good"/>
<testcase file="tests/test_a.py" name="test_other[1]"/>
<testcase file="tests/test_a.py" name="test_bad"><failure message="no">trace</failure></testcase>
<testcase file="tests/test_a.py" name="test_bad"><error message="at teardown"/></testcase>
<testcase file="tests/test_b.py" name="test_not_here"><skipped message="no Ray"/></testcase>
</testsuite></testsuites>"""


def entry(**parts):
    return {"python": "3.11.7", "versions": {"numpy": "1.26.0"}, "parts": parts, "of": 2}


def part(passed, *failed):
    return {"passed": passed, "skipped": 1, "failed": list(failed), "seconds": 60}


def test_each_direct_dependency_once_and_not_masker_itself():
    expected = ["numpy>=1.26", "torch>=2.6", "matplotlib>=3.9", "ray[serve]>=2.50", "pytest"]
    assert direct(PROJECT) == expected


def test_the_lowest_version_is_the_bound_and_pytorch_the_one_that_is_small():
    expected = ["numpy==1.26", "torch==2.13.0", "matplotlib==3.9", "ray[serve]==2.50", "pytest"]
    assert requirements(PROJECT, "lowest") == expected


def test_the_newest_has_no_bound_from_above_but_for_pytorch():
    assert requirements(PROJECT, "newest") == [*direct(PROJECT)[:1], "torch==2.13.0", *direct(PROJECT)[2:]]


@pytest.mark.parametrize("line", ["numpy<3", "numpy>=1.26,<3", "numpy~=1.26"])
def test_a_bound_that_names_no_lowest_version_is_refused(line):
    with pytest.raises(ValueError, match=r"expected one bound, such as numpy>=1\.0"):
        lowest(line)


def test_every_dependency_of_this_project_has_a_lowest_version():
    tools = read_project()["dependency-groups"]["test"]
    pinned = [line for line in requirements(read_project(), "lowest") if line not in tools]
    assert len(pinned) > 25
    assert all([one.operator for one in Requirement(line).specifier] == ["=="] for line in pinned)


def test_only_the_newest_ages(monkeypatch):
    before = {kind: VersionSet(kind).wanted for kind in ("lowest", "newest")}
    monkeypatch.setattr(versions, "date", type("Later", (), {"today": staticmethod(lambda: "2100-01-01")}))
    assert VersionSet("lowest").wanted == before["lowest"]
    assert VersionSet("newest").wanted != before["newest"]


def test_versions_of_another_environment():
    assert installed(Path(sys.executable), ["pytest"]) == {"pytest": pytest.__version__}


def test_every_test_is_in_one_part_but_those_of_the_browser():
    assert "tests/benchmarks" in suite()["benchmarks"]
    assert "tests/test_config.py" in suite()[TOP]
    assert not {"browser", "fixtures"} & set(suite())


def test_counts_and_names_from_a_report():
    assert outcomes(REPORT) == {"passed": 2, "skipped": 1, "failed": ["tests/test_a.py::test_bad"]}


def test_parts_are_kept_while_the_versions_are_the_same(monkeypatch, tmp_path):
    file = tmp_path / "versions.json"
    monkeypatch.setattr(versions, "RESULTS", file)
    monkeypatch.setattr("benchmarks.versions_page.RESULTS", file)
    versions.store("lowest", "3.11.7", {"numpy": "1.26.0"}, "cli", part(3))
    versions.store("lowest", "3.11.7", {"numpy": "1.26.0"}, TOP, part(4))
    assert list(measured()["sets"]["lowest"]["parts"]) == [TOP, "cli"]
    versions.store("lowest", "3.11.7", {"numpy": "1.26.1"}, "cli", part(5))
    assert measured()["sets"]["lowest"]["parts"] == {"cli": part(5)}


def test_a_process_that_dies_is_a_failure(monkeypatch, tmp_path):
    """Here it is not pytest at all."""
    dying = tmp_path / "python"
    dying.write_text("#!/bin/sh\nexit 139\n")
    dying.chmod(0o755)
    assert versions.run_part(dying, ["tests/cli"])["failed"] == ["tests/cli: exit code 139"]


def test_what_failed_and_what_was_not_run_stands_out():
    results = {
        "sets": {"newest": entry(cli=part(3, "tests/cli/test_a.py::test_b")), "lowest": entry(a=part(1), b=part(2))}
    }
    table = suites_table(results)
    assert "| lowest | 3.11.7 | all | 3 | 0 | 2 | 2 min |" in table
    assert "| newest | 3.11.7 | 1 of 2 | 3 | **1** | 1 | 1 min |" in table
    assert table.index("lowest") < table.index("newest")
    assert failures_text(results) == "- newest: `tests/cli/test_a.py::test_b`\n- newest, run: `cli`\n"
    assert "None failed" in failures_text({"sets": {"lowest": entry(a=part(1), b=part(2))}})


def test_versions_stand_side_by_side():
    other = {**entry(), "versions": {"numpy": "2.4.6", "Zlib": "1"}}
    table = versions_table({"sets": {"lowest": entry(), "newest": other}})
    assert "| numpy | 1.26.0 | 2.4.6 |" in table
    assert "| Zlib | – | 1 |" in table


def test_the_page_is_up_to_date(tmp_path):
    copy = tmp_path / "reliability.md"
    copy.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    write_tables(measured(), copy, TABLES)
    assert copy.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8"), "python -m benchmarks.versions --page"
