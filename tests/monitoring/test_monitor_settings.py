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


def test_what_a_monitor_promises_and_remembers_unless_told_otherwise():
    """docs/monitoring.md states these, and a stored monitor goes on with them."""
    assert MonitorSettings().as_dict() == {
        "alarm_rate": 0.01, "horizon": 100_000, "window": 500, "class_window": 200, "memory": 10_000,
        "class_memory": 1_000, "seed": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "least"), [("horizon", 1), ("window", 20), ("class_window", 20), ("memory", 100), ("class_memory", 100)]
)
def test_the_least_is_allowed_and_one_less_is_not(name, least):
    assert MonitorSettings(**{name: least}).as_dict()[name] == least
    with pytest.raises(ConfigError, match=f"{name}: must be at least {least}; got {least - 1}"):
        MonitorSettings(**{name: least - 1})
