"""The picture of a monitor."""

from __future__ import annotations

import sys

import pytest

from masker import ConfigError, MaskerError
from masker.report.drift_figure import _blocks, check_figure, draw_drift
from tests.report.test_drift_console import monitor


@pytest.mark.parametrize(("count", "foreign"), [(0, 0.0), (7, 0.0), (600, 0.0), (600, 0.5)])
def test_svg_of_any_state(tmp_path, count, foreign):
    path = draw_drift(monitor(["refund", "login"], count, foreign).state(), tmp_path / "drift.svg")
    assert path.read_text(encoding="utf-8").rstrip().endswith("</svg>")


def test_png(tmp_path):
    path = draw_drift(monitor(["a", "b"], 300).state(), tmp_path / "drift.PNG")
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_same_state_gives_the_same_picture(tmp_path, ending):
    state = monitor(["a", "b"], 300).state()
    first, second = (draw_drift(state, tmp_path / f"{name}.{ending}").read_bytes() for name in "ab")
    assert first == second


def test_blocks_are_joined_to_show_a_course():
    series = [{"start": 1 + 10 * n, "time": n, "texts": 10, "strange": 1, "evidence": float(n)} for n in range(199)]
    series.append({"start": 1991, "time": 199, "texts": 3, "strange": 0, "evidence": 0.0})
    joined = _blocks(series)
    assert len(joined) == 40 and joined[0] == {"start": 1, "time": 0, "texts": 50, "strange": 5, "evidence": 4.0}
    assert series[0]["texts"] == 10, "the state stays"
    assert _blocks(series[-2:]) == series[-2:-1], "a small last block says nothing"


def test_what_cannot_be_drawn(monkeypatch):
    with pytest.raises(ConfigError, match=r"--plot 'x.pdf' must end in .svg or .png"):
        check_figure("x.pdf")
    check_figure("x.svg")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MaskerError, match=r"--plot needs matplotlib.*masker\[report\].*, or leave it out"):
        check_figure("x.svg")
