"""Drift without labels: tests on the scores of a model's traffic that say when it is no longer what it was."""

from masker.monitoring.drift_monitor import DriftMonitor
from masker.monitoring.monitor_settings import MonitorSettings

__all__ = ["DriftMonitor", "MonitorSettings"]
