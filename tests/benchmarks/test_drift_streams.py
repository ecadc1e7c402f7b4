from __future__ import annotations

import numpy as np
import pytest

from benchmarks.drift_streams import SHARES, Truth, delays, first_alarm, make_stream, p_values, watch
from masker.monitoring import MonitorSettings


def test_a_share_is_foreign_from_the_change_on():
    stream = make_stream(Truth(100, 4000, 2000, 0.3, strangeness=50.0), 0)
    foreign = stream.scores > 25
    assert not foreign[:2000].any() and abs(foreign[2000:].mean() - 0.3) < 0.05
    assert len(stream.calibration) == len(stream.calibration_labels) == 100
    assert np.bincount(stream.labels[foreign]).argmax() == 4, "foreign texts go to other classes than known ones"
    np.testing.assert_array_equal(stream.scores, make_stream(Truth(100, 4000, 2000, 0.3, 50.0), 0).scores)


def test_other_changes():
    gradual = make_stream(Truth(10, 8000, 4000, 0.4, 50.0, kind="gradual"), 0).scores > 25
    assert not gradual[:4000].any() and gradual[4000:5000].mean() < 0.1 < 0.3 < gradual[7000:].mean()
    classes = make_stream(Truth(10, 8000, 4000, 0.7, kind="classes"), 0)
    assert abs((classes.labels[:4000] == 3).mean() - SHARES[3]) < 0.05
    assert abs((classes.labels[4000:] == 3).mean() - 0.7) < 0.05
    duplicates = make_stream(Truth(10, 8000, 4000, 0.2, kind="duplicates"), 0).scores
    _, counts = np.unique(duplicates[4000:], return_counts=True)
    assert abs(counts.max() / 4000 - 0.2) < 0.03 and len(np.unique(duplicates[:4000])) == 4000


def test_a_watch_ends_with_the_alarm():
    stream = make_stream(Truth(300, 5000, 500, 0.4, 6.0), 1)
    monitor = watch(stream, MonitorSettings())
    assert monitor.observed == 1000 and 500 < first_alarm(monitor) < 600
    assert watch(stream, MonitorSettings(), until=2000).observed == 2000
    assert first_alarm(watch(make_stream(Truth(50, 300), 1), MonitorSettings())) is None


def test_p_values_are_those_of_the_calibration():
    stream = make_stream(Truth(99, 50), 0)
    calibration, traffic = p_values(stream)
    np.testing.assert_allclose(np.sort(calibration), np.arange(2, 101) / 100, err_msg="itself included")
    assert traffic.min() >= 0.01 and traffic.max() <= 1.0


def test_delays_by_hand():
    """Change at 100: alarms at 110 and 150, one false alarm at 90, one stream without."""
    found = delays([110, 150, 90, None], 100)
    assert found == {"streams": 4, "median": None, "found": 0.5, "early": 0.25}
    assert delays([110, 150, 130], 100)["median"] == pytest.approx(30)
