"""``python -m benchmarks.coverage_page COVERAGE.json``: what of each part of masker the test suite runs.

The file is coverage.py's own report in JSON (``make coverage`` makes it). Writes ``results/coverage.json`` and the
table of ``docs/reliability.md``, and fails if the whole, or a part that users meet first, is below ``LEAST``.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.drift_page import _percent as percent
from benchmarks.drift_page import _table as table
from benchmarks.drift_page import write_tables
from benchmarks.trust_results import PAGE
from masker.files import write_json
from masker.provenance import provenance, source_commit

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "coverage.json"
PACKAGE = "src/masker/"
#: The smallest share of lines and branches; pyproject.toml has the same for ``coverage report``.
LEAST = 0.92
#: Parts that must have it by themselves: a mistake there is what a user sees.
GUARDED = ("cli/", "commands/", "errors.py", "service/")
#: All other modules beside the packages.
TOP = "other modules"
_COUNTS = {
    "statements": "num_statements",
    "ran": "covered_lines",
    "branches": "num_branches",
    "taken": "covered_branches",
}


def measured() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return found


def part_of(file: str) -> str:
    """The package below masker, ``errors.py``, or the rest."""
    folder, is_package, _ = file.removeprefix(PACKAGE).partition("/")
    return f"{folder}/" if is_package else folder if folder in GUARDED else TOP


def parts(report: dict[str, Any]) -> dict[str, dict[str, int]]:
    """The counts of coverage's report, added up for each part."""
    found: dict[str, dict[str, int]] = {}
    for file, entry in report["files"].items():
        row = found.setdefault(part_of(file), dict.fromkeys(_COUNTS, 0))
        for name, theirs in _COUNTS.items():
            row[name] += entry["summary"][theirs]
    return {name: found[name] for name in sorted(found, key=lambda name: (name == TOP, name))}


def share(rows: list[dict[str, int]]) -> float:
    """Lines that ran and branches that were taken, of all; coverage.py counts them alike."""
    met, there = (
        sum(row[key] for row in rows for key in keys) for keys in (("ran", "taken"), ("statements", "branches"))
    )
    return met / there if there else 1.0


def too_low(results: dict[str, Any]) -> list[str]:
    """What is below ``LEAST`` and must not be."""
    rows = {"all": list(results["parts"].values())} | {name: [results["parts"][name]] for name in GUARDED}
    return [f"{name}: {percent(share(part), 1)}" for name, part in rows.items() if share(part) < LEAST]


def coverage_table(results: dict[str, Any]) -> str:
    rows = [[f"`{name}`" if name != TOP else TOP, *_cells([row])] for name, row in results["parts"].items()]
    head = ["part of `src/masker`", "statements", "ran", "branches", "taken", "both"]
    return table(head, [*rows, ["all", *_cells(list(results["parts"].values()))]])


def _cells(rows: list[dict[str, int]]) -> list[str]:
    sums = {name: sum(row[name] for row in rows) for name in _COUNTS}
    return [*(f"{sums[name]:,}" for name in _COUNTS), percent(share(rows), 1)]


#: What makes each table, and the parts of the results it needs.
TABLES = {"coverage": (coverage_table, ("parts",))}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage_page")
    parser.add_argument("report", type=Path, nargs="?", help="what coverage json wrote; without it, the table alone")
    options = parser.parse_args()
    if options.report is not None:
        report = json.loads(options.report.read_text(encoding="utf-8"))
        version = {"coverage": report["meta"]["version"]}
        write_json(RESULTS, {"parts": parts(report), "provenance": provenance(commit=source_commit(), **version)})
    results = measured()
    write_tables(results, PAGE, TABLES)
    print(coverage_table(results), end="")
    if low := too_low(results):
        sys.exit(f"below {percent(LEAST)}: {'; '.join(low)}")


if __name__ == "__main__":
    main()
