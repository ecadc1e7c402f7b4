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
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Before anything computes: one thread is what a fork keeps.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

from benchmarks import trust_interruption as interruption
from benchmarks.trust_results import add_result
from benchmarks.trust_runs import import_all

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reliability.md"

Part = Callable[[interruption.Place], dict[str, Any]]

PARTS: dict[str, Part] = {
    "trainings": interruption.killed_trainings,
    "writers": interruption.killed_writers,
    "disks": interruption.full_disks,
    "meeting": interruption.meeting,
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
            measured = {**PARTS[name](place), "seconds": round(time.perf_counter() - start)}
            add_result(measured, name)
            print(f"{name}: {measured['seconds']} s", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust")
    parser.add_argument("--only", nargs="*", choices=list(PARTS))
    parser.add_argument("--page", action="store_true", help="write the tables from the JSON, measure nothing")
    options = parser.parse_args()
    if not options.page:
        measure(options.only or list(PARTS))


if __name__ == "__main__":
    main()
