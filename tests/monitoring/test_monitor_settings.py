from __future__ import annotations

import pytest

from masker import ConfigError
from masker.monitoring import MonitorSettings


def test_defaults():
    assert MonitorSettings().as_dict()["alarm_rate"] == 0.01
    assert MonitorSettings(**MonitorSettings(window=60).as_dict()) == MonitorSettings(window=60)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alarm_rate": 0.0}, "alarm_rate: must lie between 0 and 1; got 0.0"),
        ({"alarm_rate": 1.0}, "alarm_rate: must lie between 0 and 1"),
        ({"horizon": 0}, "horizon: must be at least 1; got 0"),
        ({"window": 5}, "window: must be at least 20; got 5"),
        ({"memory": 10}, "memory: must be at least 100"),
    ],
)
def test_values_out_of_range(changes, message):
    with pytest.raises(ConfigError, match=message):
        MonitorSettings(**changes)
