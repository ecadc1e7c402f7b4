"""Memory that a training step frees stays with the process, for the next step.

glibc gives large blocks back to the system, and the next step gets them as new pages, which the system has to find and
to clear. For a small encoder on a CPU that is a tenth of a step: the gradient of the word embeddings alone has 47 MB.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Parameters of glibc's mallopt.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
#: Both are of type int.
_KEEP_ALL = {_MMAP_THRESHOLD: 2**30, _TRIM_THRESHOLD: 2**31 - 1}
#: What glibc's own rule ends with once blocks of all sizes were freed. It cannot be asked what it had.
_AS_USUAL = {_MMAP_THRESHOLD: 2**25, _TRIM_THRESHOLD: 2**26}


@contextmanager
def kept_memory() -> Iterator[None]:
    """Inside the context freed memory stays with the process; with another C library, nothing happens."""
    library = _glibc()
    if library is None:
        yield
        return
    _set(library, _KEEP_ALL)
    try:
        yield
    finally:
        _set(library, _AS_USUAL)
        library.malloc_trim(0)


def _set(library: Any, thresholds: dict[int, int]) -> None:
    for parameter, value in thresholds.items():
        library.mallopt(parameter, value)


def _glibc() -> Any:
    """The C library of this process if it is glibc, else ``None``."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None
