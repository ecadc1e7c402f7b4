"""Keeping freed memory for the next step.

The C library of Linux gives large freed blocks back to the system at once. A training step frees and asks for hundreds
of megabytes, and every page that comes back has to be cleared first: for MASKER's three views that took as long as
half of the matrix products. Inside :func:`kept_heap` the blocks stay with the process.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

# From malloc.h.
_M_TRIM_THRESHOLD = -1
_M_MMAP_MAX = -4

#: The largest number that mallopt takes.
_NEVER = 2**31 - 1
#: The library's own defaults: free memory that the process may keep, blocks that are mapped one by one.
_KEPT, _MAPPED = 128 << 10, 65536


def _libc() -> ctypes.CDLL | None:
    """The C library of the process where it is glibc."""
    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):
        return None
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None


@contextmanager
def kept_heap() -> Iterator[None]:
    """Inside, freed memory stays with the process; outside of glibc nothing changes."""
    library = _libc()
    if library is None:
        yield
        return
    library.mallopt(_M_MMAP_MAX, 0)
    library.mallopt(_M_TRIM_THRESHOLD, _NEVER)
    try:
        yield
    finally:
        library.mallopt(_M_MMAP_MAX, _MAPPED)
        library.mallopt(_M_TRIM_THRESHOLD, _KEPT)
        library.malloc_trim(0)
