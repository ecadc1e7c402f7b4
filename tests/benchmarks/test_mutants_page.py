"""The tables about mutants are what results/mutants.json says, and every survivor's reason is shown."""

from __future__ import annotations

from benchmarks.drift_page import write_tables
from benchmarks.mutants_page import TABLES, measured, mutants_table, survivors_table
from benchmarks.trust_results import PAGE

SURVIVOR = {"operator": "NumberReplacer", "line": 3, "before": "CHUNK = 1024", "after": "CHUNK = 1025"}


def results(file):
    row = {"digest": "", "mutants": 8, "killed": 7, "timed_out": 0, "survivors": [SURVIVOR]}
    return {"modules": {f"src/masker/{file}": row}, "of": 2}


def test_the_page_is_up_to_date(tmp_path):
    copy = tmp_path / "reliability.md"
    copy.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    write_tables(measured(), copy, TABLES)
    assert copy.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8"), "python -m benchmarks.mutants --page"


def test_shares_and_what_is_missing():
    table = mutants_table(results("metrics/roc.py"))
    assert "| `metrics/` | 1 | 8 | 7 | 87.5 % |" in table
    assert "so far, of 2 modules" in table


def test_survivors_have_their_reason_or_say_that_nobody_looked():
    known = survivors_table(results("detection/scores/nearest_neighbour.py"))
    assert "| `CHUNK = 1024` | `CHUNK = 1025` | memory and speed only |" in known
    assert "not looked at yet" in survivors_table(results("metrics/roc.py"))
