"""The tables of docs/reliability.md about mutants, made from results/mutants.json and mutants_survivors.yaml."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from benchmarks.drift_page import _percent as percent
from benchmarks.drift_page import _table as table

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "mutants.json"
#: Why a survivor survives, by module and by the line it changes.
REASONS: dict[str, dict[str, str]] = (
    yaml.safe_load(Path(__file__).with_name("mutants_survivors.yaml").read_text(encoding="utf-8")) or {}
)


def measured() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return found


def _short(file: str) -> str:
    return file.removeprefix("src/masker/")


def reason(file: str, survivor: dict[str, Any]) -> str | None:
    """What the list says of the mutant itself, or of all mutants of its line."""
    lines = {**REASONS.get("*", {}), **REASONS.get(_short(file), {})}
    return lines.get(f"{survivor['before']} -> {survivor['after']}", lines.get(survivor["before"]))


def mutants_table(results: dict[str, Any]) -> str:
    packages: dict[str, list[dict[str, Any]]] = {}
    for file, row in results["modules"].items():
        packages.setdefault(_short(file).rpartition("/")[0], []).append(row)
    lines = [[f"`{name}/`", *_counts(rows)] for name, rows in packages.items()]
    whole = "all" if len(results["modules"]) == results["of"] else f"so far, of {results['of']} modules"
    lines.append([whole, *_counts(list(results["modules"].values()))])
    return table(["modules of", "modules", "mutants", "died", "share"], lines)


def _counts(rows: list[dict[str, Any]]) -> list[str]:
    mutants, killed = (sum(row[key] for row in rows) for key in ("mutants", "killed"))
    return [f"{len(rows)}", f"{mutants:,}", f"{killed:,}", percent(killed / mutants, 1)]


def survivors_table(results: dict[str, Any]) -> str:
    """One row for all mutants of a line that have one reason."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for file, row in results["modules"].items():
        for survivor in row["survivors"]:
            why = reason(file, survivor) or "not looked at yet"
            groups.setdefault((_short(file), survivor["before"], why), []).append(survivor["after"] or "no such line")
    rows = [
        [f"`{file}`", _code(before), "<br>".join(_code(after) for after in sorted(set(afters))), why]
        for (file, before, why), afters in groups.items()
    ]
    return table(["module", "line", "mutants", "why"], rows) if rows else "None.\n"


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


#: What makes each table, and the parts of the results it needs.
TABLES = {"mutants": (mutants_table, ("modules", "of")), "survivors": (survivors_table, ("modules", "of"))}
