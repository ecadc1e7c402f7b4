from __future__ import annotations

import numpy as np

from masker.monitoring import DriftMonitor
from masker.report.drift_console import print_drift


def monitor(classes, count, foreign=0.0):
    draw = np.random.default_rng(0)
    labels = [classes[place] for place in draw.integers(0, len(classes), count)]
    watch = DriftMonitor(draw.standard_normal(300), draw.integers(0, len(classes), 300), classes)
    watch.observe(draw.standard_normal(count) + 4 * (draw.random(count) < foreign), labels)
    return watch


def test_alarm(capsys):
    print_drift(monitor(["a", "b"], 500, 0.4).state())
    shown = capsys.readouterr().out
    assert shown.startswith("Alarm: since about text")
    row = next(line for line in shown.splitlines() if "all together" in line)
    assert " 500 " in row and " 2.6 " in row
    assert shown.count("chance of a false alarm") == 1


def test_quiet_with_many_classes_shows_the_first(capsys):
    print_drift(monitor([f"[class {n}]" for n in range(30)], 400).state())
    shown = capsys.readouterr().out
    assert "and 20 more classes; --json has all of them" in shown
    assert "[class " in shown and "chance of a false alarm is at most 1 % in 100,000 texts" in shown
    assert max(map(len, shown.splitlines())) <= 120


def test_nothing_seen(capsys):
    print_drift(monitor(["a", "b"], 0).state())
    assert capsys.readouterr().out == "No text has been seen yet.\n"
