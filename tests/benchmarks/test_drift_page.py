"""The tables of docs/monitoring.md are what results/drift.json says."""

from __future__ import annotations

import json

import pytest

from benchmarks.drift import PAGE, RESULTS, example_state
from benchmarks.drift_page import TABLES, write_tables


def test_the_page_is_up_to_date(tmp_path):
    copy = tmp_path / "monitoring.md"
    copy.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    write_tables({**json.loads(RESULTS.read_text(encoding="utf-8")), "example": example_state()}, copy)
    assert copy.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8"), "python -m benchmarks.drift --page"


def test_what_is_not_measured_says_so(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("\n".join(f"<!-- table {name} -->\nold\n<!-- end of table -->" for name in TABLES))
    write_tables({}, page)
    assert page.read_text().count("Not measured yet.") == len(TABLES) and "old" not in page.read_text()
    before = page.read_text()
    write_tables({}, page)
    assert page.read_text() == before


def test_cells_by_hand(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("\n".join(f"<!-- table {name} -->\n<!-- end of table -->" for name in TABLES))
    cell = {"median": 1234.0, "found": 0.9, "start_error": 7.0, "estimate": 0.094, "covered": 0.97}
    rows = [
        {**cell, "at": 1000, "strangeness": 2.5, "calibration": 200, "share": 0.05},
        {**cell, "at": 1000, "strangeness": 2.5, "calibration": 200, "share": 0.1, "median": None, "found": 0.2},
    ]
    write_tables({"auroc": {"2.5": 0.951}, "change": {"rows": rows}}, page)
    text = page.read_text()
    assert "| after 1,000 texts | 95 % | 200 | 1,234 (90 %) | – (20 %) |" in text
    assert "| 95 % | 5 % | 7 texts | 9.4 % | 97 % |" in text


def test_a_page_without_the_marks_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Monitoring\n")
    with pytest.raises(ValueError, match="has no mark '<!-- table quiet -->'"):
        write_tables({}, page)
