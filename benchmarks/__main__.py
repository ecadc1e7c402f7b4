"""``python -m benchmarks``: measure on this processor, print a table, write the JSON and the page made from it."""

from __future__ import annotations

import argparse
import json
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import short_texts
from benchmarks.processor import is_simulated, processor_kind
from benchmarks.report import write_page
from masker.files import write_json
from masker.provenance import provenance

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "benchmarks.json"
PAGE = ROOT / "docs" / "performance.md"
SHORT_TEXTS = "short-texts"
PARTS = ("training", "complete", "keywords", "scoring", "tricks", "memory", "busy", "growth", "deployment", SHORT_TEXTS)
#: Do not depend on the instructions of the processor.
ANY_PROCESSOR = ("growth", "deployment")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("--only", nargs="*", choices=PARTS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--page", action="store_true", help="write the page from the JSON, measure nothing")
    options = parser.parse_args()
    processors: dict[str, Any] = _stored()
    if options.page:
        write_page(processors, short_texts.load_results(), PAGE)
        return
    chosen = options.only or [part for part in PARTS if part not in ANY_PROCESSOR or not is_simulated()]
    kind = processor_kind()
    results = processors.get(kind, {}) if options.only else {}
    print(kind, file=sys.stderr)
    for name in chosen:
        start = time.perf_counter()
        if name == SHORT_TEXTS:
            short_texts.run(options.rounds)  # into a file of its own
        else:
            _measure(name, options.rounds, results)
            results["provenance"] = provenance(rounds=options.rounds)
            processors[kind] = results
            # After each part, so that an interruption loses no finished part.
            RESULTS.parent.mkdir(exist_ok=True)
            write_json(RESULTS, {"processors": processors})
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
        write_page(processors, short_texts.load_results(), PAGE)
    print(f"{RESULTS}\n{PAGE}", file=sys.stderr)


def _stored() -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    processors: dict[str, Any] = stored.get("processors", {})
    return processors


def _measure(name: str, rounds: int, results: dict[str, Any]) -> None:
    rows = results.setdefault("rows", {})
    if name == "growth":
        from benchmarks import growth

        results["growth"] = growth.run()
        return
    if name == "deployment":
        from benchmarks import deployment

        results["deployment"] = deployment.run(rounds)
        return
    from benchmarks.setting import load_setting

    measured = import_module(f"benchmarks.{name}").run(load_setting(), rounds)
    rows[name] = [row.as_dict() for row in measured]
    for row in measured:
        mark = {True: "reached", False: "NOT reached", None: ""}[row.reached]
        print(f"{row.what} vs {row.against}: {row.ratio} ({row.low}–{row.high}) {row.goal} {mark} {row.detail}")


if __name__ == "__main__":
    main()
