"""The tables of docs/reliability.md are what results/trust.json says."""

from __future__ import annotations

from benchmarks.drift_page import write_tables
from benchmarks.trust_page import TABLES
from benchmarks.trust_results import PAGE, stored


def test_the_page_is_up_to_date(tmp_path):
    copy = tmp_path / "reliability.md"
    copy.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    write_tables(stored(), copy, TABLES)
    assert copy.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8"), "python -m benchmarks.trust --page"


def test_what_failed_stands_out(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("\n".join(f"<!-- table {name} -->\n<!-- end of table -->" for name in TABLES))
    disk = {"megabytes": 0.5, "code": 1, "explained": False, "half_a_model": True, "same": False}
    training = {"training": "split", "moments": "random", "runs": 20, "killed": 20, "resumed": 15, "same": 19}
    write_tables({"disks": {"rows": [disk]}, "trainings": {"rows": [training]}}, page, TABLES)
    text = page.read_text()
    assert "| 0.5 MB | not explained | **no** | **no** |" in text
    assert "| 20 | 15 | 19 of 20 |" in text
    assert text.count("Not measured yet.") == len(TABLES) - 2
