"""Memory that is freed inside the context stays with the process, and is given back after it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from masker.training import kept_memory as module
from masker.training.kept_memory import kept_memory

#: A block of 48 MB is written and freed three times; each time it comes as new pages, unless memory is kept.
SCRIPT = """
import ctypes, resource
from contextlib import nullcontext
from masker.training.kept_memory import kept_memory

library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.malloc.argtypes, library.free.argtypes = [ctypes.c_size_t], [ctypes.c_void_p]
size = 48 * 2**20

def new_pages():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    block = library.malloc(size)
    ctypes.memset(block, 1, size)
    library.free(block)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

with CONTEXT:
    first = new_pages()
    again = new_pages()
print(first, again, new_pages())
"""


def pages(context: str) -> list[int]:
    done = subprocess.run([sys.executable, "-c", SCRIPT.replace("CONTEXT", context)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [int(count) for count in done.stdout.split()]


@pytest.mark.skipif(module._glibc() is None, reason="not glibc")
def test_a_block_is_found_again():
    first, again, after = pages("kept_memory()")
    assert first > 10 and again < first / 10 and after > first / 2, "kept inside, given back at the end"
    first, again, _ = pages("nullcontext()")
    assert again > first / 2, "what the context spares"


def test_another_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(module.sys, "platform", "darwin")
    with kept_memory():
        assert module._glibc() is None
    monkeypatch.setattr(module.sys, "platform", "linux")
    monkeypatch.setattr(module.ctypes, "CDLL", lambda name: object())
    with kept_memory():
        assert module._glibc() is None
