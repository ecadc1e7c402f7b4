"""How many cores to compute on, where PyTorch is not there to ask."""

from __future__ import annotations

import os
from pathlib import Path

_TOPOLOGY = Path("/sys/devices/system/cpu")


def usable_cores() -> int:
    """``OMP_NUM_THREADS`` if it is set, else the physical cores that this process may run on, as PyTorch has it."""
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    return len({_core_of(thread) for thread in allowed})


def _core_of(thread: int) -> str:
    """What the hardware threads of one core have in common; without a description each counts as a core."""
    try:
        return (_TOPOLOGY / f"cpu{thread}" / "topology" / "thread_siblings_list").read_text(encoding="ascii").strip()
    except OSError:
        return str(thread)
