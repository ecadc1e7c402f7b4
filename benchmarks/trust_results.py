"""``results/trust.json``: what has been measured, part by part."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from masker.files import write_json
from masker.provenance import provenance

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "trust.json"
PAGE = ROOT / "docs" / "reliability.md"


def stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return found


def merge_rows(old: list[dict[str, Any]], new: list[dict[str, Any]], keys: tuple[str, ...]) -> list[dict[str, Any]]:
    """The old rows, those measured anew replaced, and the new ones behind them; ``keys`` tell rows apart."""
    rows = {tuple(row.get(key) for key in keys): row for row in (*old, *new)}
    return list(rows.values())


def add_result(measured: Any, part: str, row: str | None = None) -> None:
    """Put a part, or a row of one, beside what is there, so that an interruption loses nothing that is finished."""
    content = stored()
    content[part] = measured if row is None else {**content.get(part, {}), row: measured}
    write_json(RESULTS, {**content, "provenance": provenance()})
