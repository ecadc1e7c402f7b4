"""What ``import masker`` does to the environment of torch's threads; in processes that have not loaded torch."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

NAMES = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")


def environment_after(code: str, **environment: str) -> list[str | None]:
    """The variables after ``code`` in a new process."""
    clean = {name: value for name, value in os.environ.items() if name not in NAMES}
    script = f"{code}; import os, json; print(json.dumps([os.environ.get(name) for name in {NAMES!r}]))"
    done = subprocess.run(
        [sys.executable, "-c", script], env={**clean, **environment}, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_spinning_is_limited_before_torch_is_loaded():
    code = "import sys, masker; assert 'torch' not in sys.modules"
    assert environment_after(code) == [None, "1000", None]


@pytest.mark.parametrize("name", NAMES)
def test_what_the_user_has_set_stays(name):
    expected = [None if other != name else "7" for other in NAMES]
    assert environment_after("import masker", **{name: "7"}) == expected


def test_once_torch_is_loaded_nothing_is_set():
    assert environment_after("import torch, masker") == [None, None, None]
