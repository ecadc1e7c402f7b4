"""Freed memory stays with the process inside, and goes back to the system afterwards."""

from __future__ import annotations

import resource
import sys

import numpy as np
import pytest

from masker.training import heap


@pytest.mark.skipif(sys.platform != "linux", reason="a matter of glibc")
def test_blocks_are_used_again_without_new_pages():
    """Ten times 64 MB, written to: 16,384 pages each time where the system takes them back, none where it does not."""

    def faults() -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(10):
            np.ones(8 << 20)
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    outside = faults()
    with heap.kept_heap():
        np.ones(8 << 20)
        inside = faults()
    assert inside < outside / 4


def test_another_c_library_changes_nothing(monkeypatch):
    monkeypatch.setattr(heap, "_libc", lambda: None)
    with heap.kept_heap():
        pass
