"""Progress bars on stderr, because stdout is for data."""

from __future__ import annotations

import sys
from typing import Any

from tqdm import tqdm

from masker import distributed


def progress_bar(total: int | None, title: str, unit: str = "it") -> Any:
    """A bar on the stderr of the first process; without a terminal it prints a line every 15 seconds at most."""
    interactive = sys.stderr.isatty()
    return tqdm(
        total=total,
        desc=title,
        unit=unit,
        file=sys.stderr,
        dynamic_ncols=interactive,
        mininterval=0.2 if interactive else 15.0,
        leave=True,
        disable=not distributed.is_first(),
    )
