"""``python -m benchmarks.mutants``: faults planted in the modules that compute; their own tests have to notice.

cosmic-ray lists the mutants of a module, and the module's own test file, alone, runs against each of them. Writes
``results/mutants.json`` module by module and the tables of ``docs/reliability.md``. Modules whose source and tests are
as they were are not run again. Survivors that no test can notice, or none should, are explained in
``mutants_survivors.yaml``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.drift_page import write_tables
from benchmarks.environments import COSMIC_RAY
from benchmarks.mutants_page import RESULTS, TABLES, measured
from benchmarks.trust_results import PAGE, ROOT
from masker.files import write_json
from masker.provenance import provenance

LIST = Path(__file__).with_name("mutants_list.py")
SOURCE = "src/masker"
#: In the order of the paper: equations, masks, losses; then what is measured, scored, promised and watched.
PLACES = (
    "losses/*.py",
    "masking/draws.py",
    "masking/views.py",
    "masking/keywords_only.py",
    "keywords/frequency.py",
    "keywords/attention.py",
    "keywords/rates.py",
    "metrics/*.py",
    "detection/scores/*.py",
    "detection/conformal.py",
    "detection/surprise.py",
    "detection/temperature.py",
    "detection/risk_control.py",
    "detection/calibration.py",
    "detection/label_rule.py",
    "monitoring/*.py",
)


def modules() -> list[str]:
    """Paths from the root of the project; a package's own file holds no code."""
    found = [path for place in PLACES for path in sorted((ROOT / SOURCE).glob(place)) if path.name != "__init__.py"]
    return [path.relative_to(ROOT).as_posix() for path in found]


def tests_of(file: str) -> str:
    folder, _, name = file.removeprefix(f"{SOURCE}/").rpartition("/")
    return f"tests/{folder}/test_{name}"


def digest(file: str) -> str:
    """Of all that decides which mutants die."""
    content = [(ROOT / name).read_bytes() for name in (file, tests_of(file))] + [LIST.read_bytes()]
    return hashlib.sha256(b"\0".join(content)).hexdigest()[:16]


def listed(files: list[str]) -> dict[str, list[dict[str, Any]]]:
    command = [str(COSMIC_RAY.python), "-I", str(LIST), *files]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, list[dict[str, Any]]] = json.loads(done.stdout)
    return found


def described(mutant: dict[str, Any], file: str) -> dict[str, Any]:
    """A survivor: what the line was and became."""
    line = mutant["line"] - 1
    before = (ROOT / file).read_text(encoding="utf-8").splitlines()
    after = mutant["source"].splitlines()
    # A removed decorator leaves no line behind.
    became = after[line].strip() if len(after) == len(before) else ""
    became = re.sub(r"([(\[]|\w=) (?=-?\d)", r"\1", became)  # cosmic-ray puts a blank before a number
    return {"operator": mutant["operator"], "line": line + 1, "before": before[line].strip(), "after": became}


def run(files: list[str]) -> None:
    """Run all, and store each module when it is finished."""
    found = listed(files)
    jobs = [
        {"file": file, "module": file[len("src/") : -len(".py")].replace("/", "."), "tests": [tests_of(file)]}
        for file in files
    ]
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as job_file:
        json.dump([{**job, "mutants": found[job["file"]]} for job in jobs], job_file)
        job_file.flush()
        command = [sys.executable, "-m", "benchmarks.mutants_runner", job_file.name]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as runner:
            outcomes: dict[str, list[str]] = {file: [] for file in files}
            for line in runner.stdout or ():
                row = json.loads(line)
                file = row["file"]
                outcomes[file].append(row["outcome"])
                if len(outcomes[file]) == len(found[file]):
                    store(file, found[file], outcomes[file])
        if runner.returncode:
            sys.exit(runner.returncode)


def store(file: str, mutants: list[dict[str, Any]], outcomes: list[str]) -> None:
    alive = [mutant for mutant, outcome in zip(mutants, outcomes, strict=True) if outcome == "survived"]
    row = {
        "digest": digest(file),
        "mutants": len(mutants),
        "killed": len(mutants) - len(alive),
        "timed_out": outcomes.count("timed out"),
        "survivors": [described(mutant, file) for mutant in alive],
    }
    print(f"{file}: {row['killed']} of {len(mutants)} died", file=sys.stderr)
    keep({**measured().get("modules", {}), file: row})


def keep(rows: dict[str, Any]) -> None:
    """Store what holds for the source and the tests as they are now, in the order of the modules."""
    current = {file: rows[file] for file in modules() if file in rows and rows[file]["digest"] == digest(file)}
    write_json(RESULTS, {"modules": current, "of": len(modules()), "provenance": provenance()})


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants")
    parser.add_argument("--only", nargs="*", help="modules, by a part of their path; run even if nothing changed")
    parser.add_argument("--page", action="store_true", help="write the tables of what is up to date, run nothing")
    options = parser.parse_args()
    if not options.page:
        if not COSMIC_RAY.is_ready:
            sys.exit(f"no cosmic-ray in '{COSMIC_RAY.folder}'; run python -m benchmarks.environments cosmic_ray")
        known = measured().get("modules", {})
        chosen = [file for file in modules() if not options.only or any(part in file for part in options.only)]
        run([file for file in chosen if options.only or known.get(file, {}).get("digest") != digest(file)])
    keep(measured().get("modules", {}))
    write_tables(measured(), PAGE, TABLES)


if __name__ == "__main__":
    main()
