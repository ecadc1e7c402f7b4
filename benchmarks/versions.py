"""``python -m benchmarks.versions [lowest|newest|locked|base-lowest|base-3.X ...]``: the suite with other versions.

``lowest`` has the very version that each bound of ``pyproject.toml`` names, ``newest`` what pip takes without bounds
from above, each in an environment beside ``.venv``; ``locked`` is the environment that runs this. What the direct
dependencies bring along, and what only the tests need, is the newest that fits. ``base-3.12`` is the base package and
its extra ``serve`` with ``python3.12`` of PATH, ``base-lowest`` the same with this Python and the lowest versions: both
run what can be tested without PyTorch. Writes ``results/versions.json``, part by part of the suite, and the tables of
``docs/reliability.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from packaging.requirements import Requirement

from benchmarks.drift_page import write_tables
from benchmarks.environments import ROOT
from benchmarks.trust_results import PAGE
from benchmarks.versions_page import RESULTS, TABLES, measured
from benchmarks.versions_sets import VersionSet, direct, environments, read_project
from masker.files import write_json
from masker.provenance import provenance, source_commit

LOCKED = "locked"
#: The files directly in tests/.
TOP = "top"
#: What of the suite asks for no more than the base package and its extra ``serve``; folders, or the files in them.
BASE = {
    TOP: "client config config_checks config_sections config_sources errors extras files labels progress provenance",
    "corpora": "cache catalogue corpus_rows intent_folders lookup packages product_reviews raw_texts user_folder",
    "detection": "auto calibration conformal detector evaluation label_rule length_effect prediction recalibration "
    "risk_control score_basis statistics surprise trade_off",
    "documents": "columns decoding document_set folds label_doubts label_studio rows splits texts",
    "inference": "batching cores windows",
    "integration": "any_text base_install",
    "masking": "draws views",
    "metrics": "intervals metrics_package regression selective",
    "modeling": "embedded tokens unpacking",
    "monitoring": "",
    "service": "answering api_page application batch_queue failures front_door growth_schemas request_log routes "
    "schemas served_folder server service_metrics service_options supervisor",
}


def installed(python: Path, names: list[str]) -> dict[str, str]:
    """The versions of these packages in an environment."""
    code = "import importlib.metadata as m, json, sys; print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
    done = subprocess.run([str(python), "-c", code, *names], check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found


def suite() -> dict[str, list[str]]:
    """The parts of the suite: each folder, and the files beside them."""
    tests = ROOT / "tests"
    folders = sorted({path.relative_to(tests).parts[0] for path in tests.glob("*/**/test_*.py")})
    parts = {TOP: sorted(f"tests/{path.name}" for path in tests.glob("test_*.py"))}
    return parts | {name: [f"tests/{name}"] for name in folders if name != "browser"}


def parts_of(kind: str) -> dict[str, list[str]]:
    """The parts of the suite that are run with these versions."""
    if not kind.startswith("base-"):
        return suite()
    folders = {part: "tests" if part == TOP else f"tests/{part}" for part in BASE}
    chosen = {part: [f"{folders[part]}/test_{name}.py" for name in names.split()] for part, names in BASE.items()}
    return {part: files or [folders[part]] for part, files in chosen.items()}


def run_part(python: Path, paths: list[str]) -> dict[str, Any]:
    """Run some tests in one process of pytest; a process that dies is a failure."""
    with tempfile.TemporaryDirectory(prefix="masker-versions-") as folder:
        file = Path(folder) / "junit.xml"
        options = ["-p", "no:xdist", "-p", "no:cacheprovider", f"--junitxml={file}", "-o", "junit_family=xunit1"]
        start = time.monotonic()
        done = subprocess.run(
            [str(python), "-m", "pytest", *options, *paths],
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")},
            stdout=sys.stderr,
        )
        seconds = round(time.monotonic() - start)
        row = outcomes(file.read_text(encoding="utf-8")) if file.exists() else outcomes("<testsuites/>")
        if done.returncode not in (0, 1, 5):  # passed, failed, none of them is in the suite
            row["failed"].append(f"{' '.join(paths)}: exit code {done.returncode}")
        return {**row, "seconds": seconds}


def outcomes(report: str) -> dict[str, Any]:
    """Counts, and the names of failures, from a JUnit report."""
    row: dict[str, Any] = {"passed": 0, "skipped": 0, "failed": []}
    for case in ElementTree.fromstring(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            name = f"{case.get('file')}::{case.get('name')}"
            if name not in row["failed"]:  # one that fails and then fails to clean up stands there twice
                row["failed"].append(name)
        elif case.find("skipped") is not None:
            row["skipped"] += 1
        else:
            row["passed"] += 1
    return row


def store(kind: str, python: str, versions: dict[str, str], part: str, row: dict[str, Any]) -> None:
    """Put a part beside those that were run with the same versions."""
    results = measured()
    known = results.get("sets", {}).get(kind, {})
    same = known.get("versions") == versions and known.get("python") == python
    parts = {**(known["parts"] if same else {}), part: row}
    ordered = {name: parts[name] for name in parts_of(kind) if name in parts}
    entry = {"python": python, "versions": versions, "parts": ordered, "of": len(parts_of(kind))}
    write_json(
        RESULTS,
        {"sets": {**results.get("sets", {}), kind: entry}, "provenance": provenance(commit=source_commit())},
    )


def run(kind: str, chosen: VersionSet | None, only: list[str]) -> Iterator[str]:
    """Run the parts of the suite and yield the names of what failed."""
    python, lines = (chosen.python, chosen.lines) if chosen else (Path(sys.executable), direct(read_project()))
    versions = installed(python, sorted({Requirement(line).name for line in lines}, key=str.lower))
    asked = subprocess.run([str(python), "-V"], check=True, stdout=subprocess.PIPE, text=True)
    for part, paths in parts_of(kind).items():
        if only and part not in only:
            continue
        row = run_part(python, paths)
        print(f"{kind}, {part}: {row}", file=sys.stderr)
        store(kind, asked.stdout.split()[1], versions, part, row)
        write_tables(measured(), PAGE, TABLES)  # at once: a test compares the page with the results
        yield from row["failed"]


def main() -> None:
    sets = environments()
    kinds = ["lowest", LOCKED, *(kind for kind in sets if kind != "lowest")]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.versions")
    parser.add_argument("kinds", nargs="*", metavar="|".join(kinds), help="all, if none is named")
    parser.add_argument("--only", nargs="+", choices=list(suite()), default=[], metavar="PART", help="folders of tests")
    parser.add_argument("--install-only", action="store_true", help="make the environments, run nothing")
    parser.add_argument("--page", action="store_true", help="write the tables from the JSON, run nothing")
    options = parser.parse_args()
    if unknown := set(options.kinds) - set(kinds):
        parser.error(f"no versions '{min(unknown)}'; there are {', '.join(kinds)} (base-3.X needs python3.X on PATH)")
    failed = []
    for kind in [] if options.page else options.kinds or kinds:
        chosen = sets.get(kind)
        if chosen and not chosen.is_ready:
            print(f"installing into {chosen.folder} (some minutes)", file=sys.stderr)
            chosen.make()
        if not options.install_only:
            failed += [f"{kind}: {name}" for name in run(kind, chosen, options.only)]
    write_tables(measured(), PAGE, TABLES)
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
