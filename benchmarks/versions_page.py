"""The tables of docs/reliability.md about versions, made from results/versions.json and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.drift_page import _table as table

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "versions.json"
#: Behind them come those of the base package, by version of Python.
ORDER = ("lowest", "locked", "newest", "base-lowest")


def measured() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return found


def suites_table(results: dict[str, Any]) -> str:
    rows = []
    for kind, entry in _sets(results).items():
        parts = entry["parts"].values()
        failed = sum(len(part["failed"]) for part in parts)
        every = "all without PyTorch" if kind.startswith("base-") else "all"
        whole = every if len(parts) == entry["of"] else f"{len(parts)} of {entry['of']}"
        minutes = sum(part["seconds"] for part in parts) / 60
        counts = [f"{sum(part[key] for part in parts):,}" for key in ("passed", "skipped")]
        shown = f"**{failed}**" if failed else "0"
        rows.append([kind, entry["python"], whole, counts[0], shown, counts[1], f"{minutes:.0f} min"])
    return table(["versions", "Python", "parts of the suite", "passed", "failed", "skipped", "time"], rows)


def failures_text(results: dict[str, Any]) -> str:
    lines = [
        f"- {kind}: `{name}`\n"
        for kind, entry in _sets(results).items()
        for part in entry["parts"].values()
        for name in part["failed"]
    ]
    missing = [
        f"- {kind}, run: {', '.join(f'`{part}`' for part in entry['parts'])}\n"
        for kind, entry in _sets(results).items()
        if len(entry["parts"]) < entry["of"]
    ]
    return "".join([*lines, *missing]) or "None failed, and none was left out.\n"


def versions_table(results: dict[str, Any]) -> str:
    sets = _sets(results)
    names = sorted({name for entry in sets.values() for name in entry["versions"]}, key=str.lower)
    rows = [[name, *(entry["versions"].get(name, "–") for entry in sets.values())] for name in names]
    return table(["package", *sets], rows)


def _sets(results: dict[str, Any]) -> dict[str, dict[str, Any]]:
    others = sorted(results["sets"].keys() - set(ORDER))
    return {kind: results["sets"][kind] for kind in [*ORDER, *others] if kind in results["sets"]}


#: What makes each table, and the parts of the results it needs.
TABLES = {
    "suites": (suites_table, ("sets",)),
    "failures": (failures_text, ("sets",)),
    "versions": (versions_table, ("sets",)),
}
