"""The folder that a command writes its files to."""

from __future__ import annotations

import os
from pathlib import Path

from masker.errors import ConfigError


def check_output_folder(output: str | Path) -> Path:
    """Check before any work that the output can be written."""
    folder = Path(output).expanduser()
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not existing.is_dir():
        raise ConfigError(f"output '{existing}' is a file; give a folder with --output")
    if not os.access(existing, os.W_OK):
        raise ConfigError(f"output '{existing}' is not writable; give another folder with --output")
    return folder
