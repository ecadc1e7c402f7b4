"""Which versions are asked for, what is read from a report, and what the page says of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import versions
from benchmarks.drift_page import write_tables
from benchmarks.environments import ROOT
from benchmarks.trust_results import PAGE
from benchmarks.versions import BASE, TOP, installed, outcomes, parts_of, suite
from benchmarks.versions_page import TABLES, failures_text, measured, suites_table, versions_table

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


def test_versions_of_another_environment():
    assert installed(Path(sys.executable), ["pytest"]) == {"pytest": pytest.__version__}


def test_every_test_is_in_one_part_but_those_of_the_browser():
    assert "tests/benchmarks" in suite()["benchmarks"]
    assert "tests/test_config.py" in suite()[TOP]
    assert not {"browser", "fixtures"} & set(suite())


def test_the_base_package_runs_files_of_the_suite_that_are_there():
    parts = parts_of("base-3.12")
    assert list(parts) == list(BASE) and set(parts) <= set(suite())
    assert parts["monitoring"] == ["tests/monitoring"] and "tests/test_config.py" in parts[TOP]
    assert [path for paths in parts.values() for path in paths if not (ROOT / path).exists()] == []
    assert parts_of("newest") == suite()


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
    versions.store("base-3.12", "3.12.1", {"numpy": "1.26.1"}, TOP, part(6))
    assert measured()["sets"]["base-3.12"]["of"] == len(BASE) < measured()["sets"]["lowest"]["of"]


def test_the_page_is_right_after_each_part(monkeypatch, tmp_path):
    """A test of the suite reads it."""
    page, file = tmp_path / "page.md", tmp_path / "versions.json"
    page.write_text("<!-- table suites -->\n\n<!-- end of table -->\n")
    monkeypatch.setattr(versions, "PAGE", page)
    monkeypatch.setattr(versions, "RESULTS", file)
    monkeypatch.setattr("benchmarks.versions_page.RESULTS", file)
    monkeypatch.setattr(versions, "TABLES", {"suites": TABLES["suites"]})
    monkeypatch.setattr(versions, "run_part", lambda python, paths: part(7, *paths))
    failed = versions.run("locked", None, ["cli", "metrics"])
    assert next(failed) == "tests/cli" and "1 of 27" in page.read_text()
    assert list(failed) == ["tests/metrics"] and "| 2 of 27 | 14 | **2** |" in page.read_text()


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


def test_the_base_package_stands_behind_by_version_of_python():
    kinds = ["base-3.13", "base-3.12", "newest", "base-lowest"]
    table = suites_table({"sets": {kind: entry(cli=part(1)) for kind in kinds}})
    shown = [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines()[2:]]
    assert shown == ["newest", "base-lowest", "base-3.12", "base-3.13"]
    whole = {"sets": {"base-3.12": entry(cli=part(1), top=part(2))}}
    assert "| base-3.12 | 3.11.7 | all without PyTorch | 3 |" in suites_table(whole)


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
