"""``python -m benchmarks.open_world``: groups, extensions and choices of texts on corpora split by class.

Each cell (part, corpus, share of known classes, seed) is measured once and kept in ``results/open_world.json``, so an
interrupted run goes on where it stopped; models are kept in ``runs/open-world``. The tables of ``docs/open-world.md``
are made from that file; ``--page`` only writes them. ``--cells N`` stops after N new cells.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.drift_page import write_tables
from benchmarks.open_world_cells import CORPORA, KNOWN, Cell, discover_cell, extend_cell, review_cell
from benchmarks.open_world_page import TABLES
from masker.files import write_json
from masker.provenance import provenance

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "open_world.json"
PAGE = ROOT / "docs" / "open-world.md"
SEEDS = (0, 1, 2)
#: Each part, and the shares of known classes that it is measured at.
PARTS: dict[str, tuple[Callable[[Cell], dict[str, Any]], tuple[float, ...]]] = {
    "discover": (discover_cell, KNOWN),
    "extend": (extend_cell, (0.75, 0.5)),
    "review": (review_cell, (0.5,)),
}


def stored() -> dict[str, Any]:
    """What has been measured."""
    found: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.open_world")
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--corpora", nargs="*", choices=list(CORPORA), default=list(CORPORA))
    parser.add_argument("--seeds", nargs="*", type=int, default=list(SEEDS))
    parser.add_argument("--known", nargs="*", type=float, default=list(KNOWN), help="only these shares")
    parser.add_argument("--cells", type=int, default=10**6)
    parser.add_argument("--page", action="store_true", help="write the tables from the JSON, measure nothing")
    options = parser.parse_args()
    left = 0 if options.page else options.cells
    wanted = [
        (part, Cell(corpus, share, seed))
        for part in options.only
        for seed in options.seeds
        for corpus in options.corpora
        for share in PARTS[part][1]
        if share in options.known
    ]
    for part, cell in wanted:
        if left <= 0:
            break
        if cell.name in stored().get(part, {}):
            continue
        start, left = time.perf_counter(), left - 1
        measured = PARTS[part][0](cell)
        # Read anew, so that another process may measure other cells meanwhile.
        known = stored()
        known.setdefault(part, {})[cell.name] = {**measured, "provenance": provenance()["created"]}
        write_json(RESULTS, {**known, "provenance": provenance()})
        print(f"{part} {cell.name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    write_tables(stored(), PAGE, TABLES)


if __name__ == "__main__":
    main()
