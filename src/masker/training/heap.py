"""Keeping freed memory for the next training step.

glibc returns large freed blocks to the system at once. A training step frees and requests hundreds of megabytes, and
the kernel clears every page it hands out again: for MASKER's three views that took half as long as the matrix products.
Inside :func:`kept_heap` the process keeps the blocks.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

# From malloc.h.
_M_TRIM_THRESHOLD = -1
_M_MMAP_MAX = -4

#: The largest value mallopt accepts.
_NEVER = 2**31 - 1
#: glibc's defaults: the free memory a process may keep, and the number of blocks mapped individually.
_KEPT, _MAPPED = 128 << 10, 65536


def _libc() -> ctypes.CDLL | None:
    """The C library of the process, if it is glibc."""
    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):
        return None
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None


@contextmanager
def kept_heap() -> Iterator[None]:
    """Inside the context freed memory stays with the process; without glibc nothing changes."""
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
