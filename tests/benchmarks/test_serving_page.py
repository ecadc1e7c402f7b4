"""Tables of the service's page: goals are judged, what was not measured is said."""

from __future__ import annotations

import pytest

from benchmarks.serving_page import TABLES, write_tables

GOOD = {"p50_ms": 100.4, "p99_ms": 1234.0, "failed": 0, "refused": 0, "connections_lost": 0, "too_many": 0}
RESULTS = {
    "throughput": {
        "rows": [
            {"shape": "one text", "name": "masker serve", "share": 0.9, "low": 0.85, "high": 0.95, **GOOD},
            {"shape": "one text", "name": "pipeline", "share": 0.2, "low": 0.1, "high": 0.3, **GOOD},
            {"shape": "many", "name": "masker serve", "share": 0.5, "low": 0.4, "high": 0.6, **GOOD},
            {"shape": "many", "name": "pipeline", "share": 0.25, "low": 0.2, "high": 0.3, **GOOD},
        ]
    },
    "schema": {"requests": 1200, "statuses": {"200": 1000, "422": 200}},
    "killed": {"processes": 2, "answered": 5000, "failed": 0, "replaced_after_s": 3.5},
}


@pytest.fixture
def page(tmp_path):
    file = tmp_path / "page.md"
    marks = "".join(f"\n<!-- table {name} -->\nold\n<!-- end of table -->\n" for name in TABLES)
    file.write_text(f"# Page\n{marks}\nEnd.\n")
    return file


def test_tables_are_replaced_and_the_text_around_them_stays(page):
    write_tables(RESULTS, page)
    first = page.read_text()
    assert first.startswith("# Page\n") and first.endswith("\nEnd.\n") and "old" not in first
    assert first.count("Not measured yet.") == 3
    write_tables(RESULTS, page)
    assert page.read_text() == first


def test_goals_are_judged_for_the_service_alone(page):
    write_tables(RESULTS, page)
    rows = [line for line in page.read_text().splitlines() if line.startswith(("| one text", "| many"))]
    assert rows[0] == "| one text | `masker serve` | 0.90 (0.85–0.95) reached | 4.5 reached | 100 / 1,234 | 0 |"
    assert "behind FastAPI" in rows[1] and "reached" not in rows[1]
    assert "0.50 (0.40–0.60) **not reached** | 2.0 **not reached**" in rows[2]


def test_errors_of_the_server_have_a_column_even_if_there_are_none(page):
    write_tables(RESULTS, page)
    assert "| 1,200 | 1,000 | 200 | 0 |" in page.read_text()


def test_a_page_without_a_mark_is_refused(tmp_path):
    (tmp_path / "page.md").write_text("nothing")
    with pytest.raises(ValueError, match="has no mark '<!-- table throughput -->'"):
        write_tables(RESULTS, tmp_path / "page.md")
