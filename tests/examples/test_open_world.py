"""The example of the loop does what it says."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "open_world.py"


@pytest.mark.slow
def test_rejects_fall_and_the_promise_is_kept(tmp_path, capsys):
    found = runpy.run_path(str(EXAMPLE))["main"](tmp_path / "loop")
    before, after = found["before"], found["after"]
    assert found["new_classes"]
    assert after["rejected, new"] < before["rejected, new"] - 0.2
    assert before["accuracy, new"] == 0 and after["accuracy, new"] > 0.5
    assert after["accuracy, known"] > before["accuracy, known"] - 0.05
    # 500 messages: three standard errors of a rate of 5 % are 3 points.
    assert after["rejected, known"] <= found["promised"] + 0.03
    assert "5. Tomorrow's traffic" in capsys.readouterr().out
