"""The monitor as a whole: the stated rate, classes, states, restarts, mistakes."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from masker import DataError
from masker.monitoring import DriftMonitor, MonitorSettings
from masker.monitoring.drift_monitor import calibration_fingerprint, group_limits

CLASSES = ["refund", "delivery", "login"]


def traffic(count, at=None, share=0.2, seed=1, only=None):
    """Scores and labels; from text ``at`` on a share is foreign, all or those labelled ``only``."""
    draw = np.random.default_rng(seed)
    labels = [CLASSES[place] for place in draw.integers(0, 3, count)]
    foreign = draw.random(count) < share
    foreign[: count if at is None else at] = False
    if only is not None:
        foreign &= np.array([label == only for label in labels])
    return draw.standard_normal(count) + 4 * foreign, labels


def monitor_of(size=300, settings=None, seed=0):
    draw = np.random.default_rng(seed)
    return DriftMonitor(draw.standard_normal(size), draw.integers(0, 3, size), CLASSES, settings)


def test_quiet_streams_keep_the_stated_rate():
    """At most half of the streams may raise any alarm; small calibration sets, three classes."""
    settings = MonitorSettings(alarm_rate=0.5, horizon=600, window=300, class_window=200)
    alarms = 0
    for seed in range(40):
        monitor = monitor_of(40, settings, seed)
        monitor.observe(*traffic(600, seed=1000 + seed))
        alarms += monitor.alarm
    assert alarms <= 20


def test_a_change_is_found_and_described():
    monitor = monitor_of()
    monitor.observe(*traffic(1200, 600))
    state = monitor.state()
    assert state["alarm"] and monitor.alarm
    assert 600 < state["whole"]["detected"] < 750 and abs(state["since"] - 601) < 40
    assert state["foreign_share"]["low"] < 0.2 < state["foreign_share"]["high"]
    assert state["evidence"] > state["whole"]["evidence_limit"]
    assert state["sentence"].startswith("Alarm: since about text")
    assert state["expected_strange"] == 0.05
    assert sum(block["texts"] for block in state["series"]) == state["observed"] == 1200
    assert sum(group["observed"] for group in state["classes"]) == 1200
    assert json.loads(json.dumps(state)) == state


def test_a_change_in_one_class():
    monitor = monitor_of(600)
    monitor.observe(*traffic(3000, 1000, share=0.25, only="login"))
    alarmed = [group["label"] for group in monitor.state()["classes"] if group["alarm"]]
    assert alarmed == ["login"]
    assert "'login'" in monitor.state()["sentence"]


def test_times_are_those_of_the_blocks():
    monitor = monitor_of()
    scores, labels = traffic(1200, 600)
    monitor.observe(scores, labels, [f"day {number // 100}" for number in range(1200)])
    state = monitor.state()
    assert state["since_time"] in ("day 5", "day 6") and state["whole"]["detected_time"] in ("day 6", "day 7")
    assert monitor.last_time == "day 11"


def test_batches_and_restarts_change_nothing():
    scores, labels = traffic(900, 500)
    expected = monitor_of()
    expected.observe(scores, labels)
    monitor = monitor_of()
    for part in np.split(np.arange(900), [1, 3, 200, 650]):
        monitor = DriftMonitor.from_json(json.loads(json.dumps(monitor.to_json())))
        monitor.observe(scores[part], [labels[place] for place in part])
    found, wanted = monitor.state(), expected.state()
    assert found["sentence"] == wanted["sentence"]
    for one, other in zip((found["whole"], *found["classes"]), (wanted["whole"], *wanted["classes"]), strict=True):
        assert one["evidence"] == pytest.approx(other["evidence"])
        assert (one["detected"], one["since"], one["foreign_share"]) == (
            other["detected"], other["since"], other["foreign_share"],
        )  # fmt: skip


def test_of_a_calibration():
    class Calibration:
        scores, predicted = np.arange(10.0), np.arange(10) % 3

    monitor = DriftMonitor.of(Calibration, CLASSES)
    assert [group["reference"] for group in monitor.state()["classes"]] == [4, 3, 3]
    assert monitor.reference == calibration_fingerprint(np.arange(10.0), CLASSES)
    assert monitor.reference != calibration_fingerprint(np.arange(11.0), CLASSES)
    assert monitor.reference != calibration_fingerprint(np.arange(10.0), [1, 2, 3])


def test_the_rate_is_divided_among_the_detectors():
    """A quarter each: whole and classes, martingales and windows."""
    whole, each = group_limits(MonitorSettings(alarm_rate=0.04, horizon=1000), 5)
    assert whole.martingale_rate == pytest.approx(0.01) and each.martingale_rate == pytest.approx(0.002)
    assert whole.look_level == pytest.approx(0.01 / (4 * 21)) and each.look_level == pytest.approx(0.01 / (4 * 55))


def test_no_text_and_no_calibration():
    monitor = DriftMonitor([], [], CLASSES)
    monitor.observe([], [])
    assert monitor.state()["sentence"] == "No text has been seen yet."
    assert json.loads(json.dumps(monitor.state()))["foreign_share"] is None
    monitor.observe(*traffic(900, 600))
    assert monitor.alarm, "earlier traffic is the reference"


def test_labels_of_any_type():
    monitor = DriftMonitor([0.1, 0.2, 0.3], [0, 1, 1], [7, True])
    monitor.observe([0.5], [7])
    again = DriftMonitor.from_json(json.loads(json.dumps(monitor.to_json())))
    again.observe([0.5], [True])
    assert [group["observed"] for group in again.state()["classes"]] == [1, 1]


@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        ([1.0, 2.0], ["login"], "one score and one label for each text"),
        ([[1.0]], ["login"], "one score and one label for each text"),
        ([float("nan")], ["login"], "not a finite number"),
        ([1.0], ["spam"], "label 'spam' is not one of the model's classes"),
        ([1.0], [[]], "is not one of the model's classes"),
    ],
)
def test_misuse_is_one_line_and_changes_nothing(scores, labels, message):
    monitor = monitor_of()
    with pytest.raises(DataError, match=message):
        monitor.observe(scores, labels)
    assert monitor.observed == 0 and monitor.state()["whole"]["observed"] == 0


def test_damaged_states_are_refused():
    content = monitor_of().to_json()
    for damage in (
        [], {}, {**content, "whole": {}}, {**content, "groups": []}, {**content, "settings": {"speed": 3}},
        {**content, "whole": {**content["whole"], "past": []}},
    ):  # fmt: skip
        with pytest.raises(DataError, match="the monitor's state is damaged"):
            DriftMonitor.from_json(damage)
    with pytest.raises(DataError, match="format 99; this version reads 1"):
        DriftMonitor.from_json({**content, "format": 99})


def test_it_needs_neither_torch_nor_scikit_learn():
    code = "import sys, masker.monitoring; print(sorted({'torch', 'sklearn', 'transformers'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_last_time_is_that_of_the_last_text():
    monitor = monitor_of()
    monitor.observe([0.1, 0.2, 0.3], ["login"] * 3, [1, 2, 3])
    assert monitor.last_time == 3


def test_blocks_end_at_multiples_of_the_step():
    """A look at the window of 500 after every 50 texts: texts 1 to 7, 8 to 50, 51 to 60."""
    monitor = monitor_of(settings=MonitorSettings(window=500))
    monitor.observe(np.zeros(7), ["login"] * 7)
    monitor.observe(np.zeros(53), ["login"] * 53)
    monitor.observe(np.zeros(45), ["login"] * 45)
    assert [(block["start"], block["texts"]) for block in monitor.state()["series"]] == [(1, 50), (51, 50), (101, 5)]


def test_limits_without_classes_are_those_of_one():
    settings = MonitorSettings(alarm_rate=0.04)
    assert group_limits(settings, 0) == group_limits(settings, 1)
    assert group_limits(settings, 1)[1].martingale_rate == pytest.approx(0.01)
