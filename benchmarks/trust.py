"""``python -m benchmarks.trust``: what survives kills, full disks, strange files and strange numbers.

Writes ``results/trust.json`` after each part, and the tables of ``docs/reliability.md`` from it. ``--only`` measures
some parts anew; ``--page`` only writes the page. Fuzzing has a command of its own, :mod:`benchmarks.fuzz`.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Before anything computes: one thread is what a fork keeps.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

from benchmarks import trust_interruption as interruption
from benchmarks import trust_numerics as numerics
from benchmarks import trust_sizes as sizes
from benchmarks.drift_page import write_tables
from benchmarks.trust_page import TABLES
from benchmarks.trust_results import PAGE, add_result, merge_rows, stored
from benchmarks.trust_runs import import_all

#: What measures each part, and the keys that tell its rows apart.
PARTS: dict[str, tuple[Callable[..., Iterator[dict[str, Any]]], tuple[str, ...]]] = {
    "trainings": (interruption.killed_trainings, ("training", "moments")),
    "writers": (interruption.killed_writers, ("command",)),
    "disks": (interruption.full_disks, ("megabytes",)),
    "meeting": (interruption.meeting, ("round",)),
    "degenerate": (numerics.degenerate, ("data",)),
    "agreement": (numerics.agreement, ("ways",)),
    "promise": (numerics.promise, ("promised",)),
    "large": (sizes.large, ("input",)),
}
#: Parts of which single rows can be measured.
BY_ROW = ("trainings", "writers", "large")


def measure(names: list[str], rows: list[str] | None = None) -> None:
    with tempfile.TemporaryDirectory(prefix="masker-trust-") as folder:
        os.environ["MASKER_DATA"] = str(Path(folder) / "corpora")
        import_all()
        place = interruption.make_place(Path(folder))
        for name in names:
            if name == "disks" and not interruption.can_mount(place):
                print("disks skipped: a small tmpfs cannot be mounted here; run as root", file=sys.stderr)
                continue
            part, keys = PARTS[name]
            for row in part(place, rows) if rows and name in BY_ROW else part(place):
                print(name, row, file=sys.stderr)
                # Row by row, so that an interruption loses none that is finished.
                add_result({"rows": merge_rows(stored().get(name, {}).get("rows", []), [row], keys)}, name)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust")
    parser.add_argument("--only", nargs="*", choices=list(PARTS))
    parser.add_argument("--rows", nargs="*", help=f"only these rows of {' and '.join(BY_ROW)}")
    parser.add_argument("--page", action="store_true", help="write the tables from the JSON, measure nothing")
    options = parser.parse_args()
    if not options.page:
        measure(options.only or list(PARTS), options.rows)
    write_tables(stored(), PAGE, TABLES)


if __name__ == "__main__":
    main()
