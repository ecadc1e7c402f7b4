"""``python -m benchmarks.setfit_environment``: a virtual environment of its own for SetFit, beside ``.venv``.

SetFit is a system to compare with and no dependency of masker, so the two share no packages.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).parent / "setfit.requirements.txt"
VARIABLE = "MASKER_SETFIT_VENV"


def environment_folder() -> Path:
    """``.venv-setfit`` beside ``.venv``, unless the variable names another folder."""
    chosen = os.environ.get(VARIABLE)
    return Path(chosen).expanduser() if chosen else Path(__file__).parent.parent / ".venv-setfit"


def environment_python() -> Path:
    scripts = "Scripts/python.exe" if os.name == "nt" else "bin/python"
    return environment_folder() / scripts


def is_ready() -> bool:
    """Whether the environment has been installed from the requirements as they are now."""
    stamp = _stamp()
    return stamp.is_file() and stamp.read_bytes() == REQUIREMENTS.read_bytes() and environment_python().is_file()


def make_environment() -> None:
    """Create the environment with pip and check that SetFit can be imported."""
    _stamp().unlink(missing_ok=True)
    subprocess.run([sys.executable, "-m", "venv", str(environment_folder())], check=True)
    python = str(environment_python())
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(REQUIREMENTS)]
    subprocess.run([python, *install], check=True)
    # Isolated: without the caller's PYTHONPATH, as the benchmark runs it.
    subprocess.run([python, "-I", "-c", "import setfit"], check=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    # Written last, so that an interrupted installation does not count as ready.
    _stamp().write_bytes(REQUIREMENTS.read_bytes())


def _stamp() -> Path:
    return environment_folder() / ".installed"


if __name__ == "__main__":
    if is_ready():
        print(f"{environment_folder()} is up to date", file=sys.stderr)
    else:
        print(f"installing SetFit into {environment_folder()} (a few minutes)", file=sys.stderr)
        make_environment()
