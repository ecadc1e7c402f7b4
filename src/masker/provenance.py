"""Where a result comes from: software versions, machine, time, source commit."""

from __future__ import annotations

import platform
import subprocess
import sys
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = ("masker", "torch", "transformers", "accelerate", "tokenizers", "numpy", "scikit-learn")


def provenance(**extra: Any) -> dict[str, Any]:
    """A JSON-ready record of software and machine, plus what the caller adds, such as seed or data fingerprint."""
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": sys.version.split()[0],
        "machine": f"{platform.system()} {platform.machine()}",
        "versions": versions,
        **extra,
    }


@cache
def source_commit() -> str | None:
    """The commit of this package's source, marked if it has local changes; ``None`` for an installed package."""
    here = Path(__file__)
    try:
        # Asking for this very file rules out the commit of some other repository that contains site-packages.
        _git(here.parent, "ls-files", "--error-unmatch", here.name)
        commit = _git(here.parent, "rev-parse", "HEAD").strip()
        changed = _git(here.parent, "status", "--porcelain", "--untracked-files=no", ".").strip()
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{commit} with local changes" if changed else commit


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True, timeout=10
    )
    return done.stdout
