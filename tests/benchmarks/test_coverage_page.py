"""What coverage's report says of each part, the table made of it, and when the command fails."""

from __future__ import annotations

import json
import tomllib

import pytest

from benchmarks import coverage_page
from benchmarks.coverage_page import LEAST, ROOT, TABLES, coverage_table, measured, part_of, parts, share, too_low
from benchmarks.drift_page import write_tables
from benchmarks.trust_results import PAGE


def entry(statements, ran, branches=0, taken=0):
    names = {"num_statements": statements, "covered_lines": ran, "num_branches": branches, "covered_branches": taken}
    return {"summary": {**names, "percent_covered": 0.0}}


def report(**guarded):
    """All parts that must be covered are, but for those given."""
    files = {f"src/masker/{name}/a.py": entry(10, 10) for name in ("cli", "commands", "service")}
    files |= {"src/masker/errors.py": entry(4, 4), "src/masker/files.py": entry(6, 3, 2, 1)}
    changed = {f"src/masker/{name}/b.py": entry(*counts) for name, counts in guarded.items()}
    return {"meta": {"version": "7"}, "files": {**files, **changed}}


def test_the_page_is_up_to_date(tmp_path):
    copy = tmp_path / "reliability.md"
    copy.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    write_tables(measured(), copy, TABLES)
    assert copy.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8"), "python -m benchmarks.coverage_page"


def test_what_is_committed_is_enough():
    assert too_low(measured()) == []


def test_pyproject_asks_for_the_same_share():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["coverage"]
    assert settings["report"]["fail_under"] == 100 * LEAST
    assert settings["run"]["branch"]


def test_a_file_belongs_to_its_package():
    assert part_of("src/masker/detection/scores/knn.py") == "detection/"
    assert part_of("src/masker/errors.py") == "errors.py"
    assert part_of("src/masker/files.py") == "other modules"


def test_counts_of_a_part_are_added_up_and_the_rest_comes_last():
    found = parts(report(cli=(20, 15, 8, 5)))
    assert found["cli/"] == {"statements": 30, "ran": 25, "branches": 8, "taken": 5}
    assert list(found) == ["cli/", "commands/", "errors.py", "service/", "other modules"]


def test_the_share_is_of_lines_and_branches_together():
    assert share([{"statements": 6, "ran": 3, "branches": 2, "taken": 1}]) == 0.5
    assert share([{"statements": 0, "ran": 0, "branches": 0, "taken": 0}]) == 1.0


def test_a_part_that_users_meet_must_be_covered_by_itself():
    assert too_low({"parts": parts(report(detection=(100, 100)))}) == []
    assert too_low({"parts": parts(report(detection=(900, 900), service=(10, 2)))}) == ["service/: 60.0 %"]
    assert too_low({"parts": parts(report(detection=(100, 0)))}) == ["all: 26.8 %"]


def test_the_table_has_a_row_for_each_part_and_for_all():
    table = coverage_table({"parts": parts(report())})
    assert "| `cli/` | 10 | 10 | 0 | 0 | 100.0 % |" in table
    assert "| other modules | 6 | 3 | 2 | 1 | 50.0 % |" in table
    assert table.endswith("| all | 40 | 37 | 2 | 1 | 90.5 % |\n")


def test_the_command_writes_results_and_page_and_fails_below_the_share(tmp_path, monkeypatch, capsys):
    page, results, file = tmp_path / "page.md", tmp_path / "coverage.json", tmp_path / "report.json"
    page.write_text("<!-- table coverage -->\n<!-- end of table -->\n")
    monkeypatch.setattr(coverage_page, "RESULTS", results)
    monkeypatch.setattr(coverage_page, "PAGE", page)
    monkeypatch.setattr("sys.argv", ["coverage_page", str(file)])
    file.write_text(json.dumps(report(detection=(100, 100))))
    coverage_page.main()
    assert "| `detection/` | 100 | 100 |" in page.read_text()
    assert json.loads(results.read_text())["provenance"]["coverage"] == "7"
    file.write_text(json.dumps(report(service=(100, 0))))
    with pytest.raises(SystemExit, match=r"below 92 %: all: 26\.8 %; service/: 9\.1 %"):
        coverage_page.main()
    assert "| `service/` | 110 | 10 |" in page.read_text(), "a run that fails shows what is missing"
    assert "9.1 %" in capsys.readouterr().out
