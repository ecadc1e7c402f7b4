"""The example of the loop does what it says."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[1] / "examples" / "open_world.py"


@pytest.mark.slow
def test_rejects_fall_and_the_promise_is_kept(tmp_path, capsys):
    found = runpy.run_path(str(EXAMPLE))["main"](tmp_path / "loop")
    before, after = found["before"], found["after"]
    assert set(found["new_classes"]) == {"invoice", "job"}
    assert before["rejected, new"] > 0.5 and after["rejected, new"] < 0.2
    assert before["right, new"] == 0 and after["right, new"] > 0.6
    assert after["right, known"] >= before["right, known"] - 0.05
    # 80 messages: two standard errors of a rate of 5 % are 5 points.
    assert after["rejected, known"] <= found["promised"] + 0.05
    assert "5. Tomorrow's traffic" in capsys.readouterr().out
