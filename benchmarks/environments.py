"""``python -m benchmarks.environments PACKAGE``: a virtual environment of its own for a package to compare with.

Neither these packages nor the tools among them (atheris, cosmic-ray, cyclonedx-bom, pip-audit) are dependencies of
masker, so they share no packages with it: each is beside ``.venv``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Environment:
    """The environment of one package."""

    package: str

    @property
    def requirements(self) -> Path:
        return Path(__file__).parent / f"{self.package}.requirements.txt"

    @property
    def variable(self) -> str:
        """Names another folder for it."""
        return f"MASKER_{self.package.upper()}_VENV"

    @property
    def folder(self) -> Path:
        """``.venv-PACKAGE`` beside ``.venv``, unless the variable names another folder."""
        chosen = os.environ.get(self.variable)
        return Path(chosen).expanduser() if chosen else ROOT / f".venv-{self.package}"

    @property
    def python(self) -> Path:
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def stamp(self) -> Path:
        return self.folder / ".installed"

    @property
    def wanted(self) -> str:
        """What the stamp of a finished installation says."""
        return self.requirements.read_text(encoding="utf-8")

    @property
    def is_ready(self) -> bool:
        """Whether it has been installed from the requirements as they are now."""
        stamped = self.stamp.is_file() and self.stamp.read_text(encoding="utf-8") == self.wanted
        return stamped and self.python.is_file()

    def make(self) -> None:
        """Create it with pip and check that the package can be imported."""
        self.stamp.unlink(missing_ok=True)
        subprocess.run([sys.executable, "-m", "venv", str(self.folder)], check=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(self.requirements)]
        subprocess.run([str(self.python), *install], check=True)
        # Isolated: without the caller's PYTHONPATH, as the benchmark runs it.
        command = [str(self.python), "-I", "-c", f"import {self.package}"]
        subprocess.run(command, check=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
        # Written last, so that an interrupted installation does not count as ready.
        self.stamp.write_text(self.wanted, encoding="utf-8")


SETFIT = Environment("setfit")
RIVER = Environment("river")
LITSERVE = Environment("litserve")
ATHERIS = Environment("atheris")
CYCLONEDX = Environment("cyclonedx_py")
COSMIC_RAY = Environment("cosmic_ray")
PIP_AUDIT = Environment("pip_audit")


def main() -> None:
    known = {one.package: one for one in (SETFIT, RIVER, LITSERVE, ATHERIS, CYCLONEDX, COSMIC_RAY, PIP_AUDIT)}
    parser = argparse.ArgumentParser(prog="python -m benchmarks.environments")
    parser.add_argument("package", choices=list(known))
    chosen = known[parser.parse_args().package]
    if chosen.is_ready:
        print(f"{chosen.folder} is up to date", file=sys.stderr)
    else:
        print(f"installing {chosen.package} into {chosen.folder} (a few minutes)", file=sys.stderr)
        chosen.make()


if __name__ == "__main__":
    main()
