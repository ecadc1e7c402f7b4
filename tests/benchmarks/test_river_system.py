from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from benchmarks import river_system
from benchmarks.river_system import ALPHAS, DELTAS


class FakeADWIN:
    """Detects every value above 1 − delta."""

    def __init__(self, delta):
        self.limit, self.drift_detected = 1 - delta, False

    def update(self, value):
        self.drift_detected = value > self.limit


class FakeKSWIN:
    """Its p-value is 1 − value."""

    p_value = 1.0

    def __init__(self, alpha, window_size, stat_size, seed):
        assert alpha == 0.0

    def update(self, value):
        self.p_value = 1 - value


@pytest.fixture
def fake_river(monkeypatch):
    drift = ModuleType("river.drift")
    drift.ADWIN, drift.KSWIN = FakeADWIN, FakeKSWIN
    monkeypatch.setitem(sys.modules, "river", ModuleType("river"))
    monkeypatch.setitem(sys.modules, "river.drift", drift)


def test_it_stands_alone():
    tree = ast.parse(Path(river_system.__file__).read_text(encoding="utf-8"))
    imported = {alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import)
                for alias in node.names}  # fmt: skip
    imported |= {(node.module or ".").split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert "river" in imported
    assert not imported & {"masker", "benchmarks", ""}


def test_first_detections_by_level(fake_river, tmp_path, monkeypatch):
    values = np.zeros((3, 1200))
    values[:, 1004], values[:, 1100] = 0.9995, 1 - 1e-9
    values[2, :] = 0.0
    np.savez(tmp_path / "task.npz", values=values, after=1003, most=[3, 2, 1])
    monkeypatch.setattr(sys, "argv", ["river_system", str(tmp_path / "task.npz"), str(tmp_path / "result.json")])
    monkeypatch.setattr(river_system, "version", lambda name: "0")
    river_system.main()
    firsts = json.loads((tmp_path / "result.json").read_text())["firsts"]
    assert firsts["ADWIN"][str(DELTAS[0])] == [1005, 1005, None]
    assert firsts["ADWIN"][str(DELTAS[-1])] == [1101, 1101, None], "0.9995 is not that strange"
    assert firsts["KSWIN"][str(ALPHAS[0])] == [1005, 1005] and firsts["KSWIN"][str(ALPHAS[1])] == [1101, 1101]
    assert firsts["KSWIN"][str(ALPHAS[-1])] == [None, None]
    assert firsts["KSWIN 1000"][str(ALPHAS[0])] == [1005]


def test_detections_before_the_change_do_not_count(fake_river):
    values = np.zeros(300)
    values[[120, 250]] = 1.0
    assert river_system.adwin(values, 0.002, 200) == 251
    assert river_system.kswin(values, (100, 30), 200)[0] == 251
