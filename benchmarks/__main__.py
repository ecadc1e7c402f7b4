"""``python -m benchmarks``: run, print a table, write the JSON and the page made from it."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.report import write_page

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "benchmarks.json"
PAGE = ROOT / "docs" / "performance.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("--only", nargs="*", choices=["training", "keywords", "scoring", "growth"])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    chosen = options.only or ["training", "keywords", "scoring", "growth"]

    from masker.provenance import provenance

    results: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() and options.only else {}
    results.setdefault("rows", {})
    setting = None
    for name in chosen:
        start = time.perf_counter()
        if name == "growth":
            from benchmarks import growth

            results["growth"] = growth.run()
        else:
            from benchmarks import keywords, scoring, training
            from benchmarks.setting import load_setting

            setting = setting or load_setting()
            module = {"training": training, "keywords": keywords, "scoring": scoring}[name]
            rows = module.run(setting, options.rounds)
            results["rows"][name] = [row.as_dict() for row in rows]
            for row in rows:
                mark = {True: "reached", False: "NOT reached", None: ""}[row.reached]
                print(f"{row.what} vs {row.against}: {row.ratio} ({row.low}–{row.high}) {row.goal} {mark} {row.detail}")
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
        # After each part, so that what was measured is not lost with what comes next.
        results["provenance"] = provenance(rounds=options.rounds)
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        write_page(results, PAGE)
    print(f"{RESULTS}\n{PAGE}", file=sys.stderr)


if __name__ == "__main__":
    main()
