"""``python -m benchmarks.trust``: what survives kills, full disks, strange files and strange numbers.

Writes ``results/trust.json`` after each part, and the tables of ``docs/reliability.md`` from it. ``--only`` measures
some parts anew; ``--page`` only writes the page. Fuzzing has a command of its own, :mod:`benchmarks.fuzz`.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Before anything computes: one thread is what a fork keeps.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

from benchmarks import trust_interruption as interruption
from benchmarks import trust_numerics as numerics
from benchmarks.drift_page import write_tables
from benchmarks.trust_page import TABLES
from benchmarks.trust_results import PAGE, add_result, stored
from benchmarks.trust_runs import import_all

Part = Callable[[interruption.Place], Iterator[dict[str, Any]]]

PARTS: dict[str, Part] = {
    "trainings": interruption.killed_trainings,
    "writers": interruption.killed_writers,
    "disks": interruption.full_disks,
    "meeting": interruption.meeting,
    "degenerate": numerics.degenerate,
    "agreement": numerics.agreement,
    "promise": numerics.promise,
}


def measure(names: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="masker-trust-") as folder:
        os.environ["MASKER_DATA"] = str(Path(folder) / "corpora")
        import_all()
        place = interruption.make_place(Path(folder))
        for name in names:
            if name == "disks" and not interruption.can_mount(place):
                print("disks skipped: a small tmpfs cannot be mounted here; run as root", file=sys.stderr)
                continue
            start = time.perf_counter()
            rows = []
            for row in PARTS[name](place):
                rows.append(row)
                print(name, row, file=sys.stderr)
                # Row by row, so that an interruption loses none that is finished.
                add_result({"rows": rows, "seconds": round(time.perf_counter() - start)}, name)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust")
    parser.add_argument("--only", nargs="*", choices=list(PARTS))
    parser.add_argument("--page", action="store_true", help="write the tables from the JSON, measure nothing")
    options = parser.parse_args()
    if not options.page:
        measure(options.only or list(PARTS))
    write_tables(stored(), PAGE, TABLES)


if __name__ == "__main__":
    main()
