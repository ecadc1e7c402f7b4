"""Where a result comes from: versions, machine, time, seed."""

from __future__ import annotations

import platform
import sys
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from typing import Any

_PACKAGES = ("masker", "torch", "transformers", "accelerate", "tokenizers", "numpy", "scikit-learn")


def provenance(**extra: Any) -> dict[str, Any]:
    """A JSON-ready record of the software and the machine, plus whatever the caller adds (seed, data fingerprint…)."""
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "python": sys.version.split()[0],
        "machine": f"{platform.system()} {platform.machine()}",
        "versions": versions,
        **extra,
    }
