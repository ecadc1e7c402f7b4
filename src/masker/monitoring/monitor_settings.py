"""What a monitor promises, and how much it remembers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from masker.errors import ConfigError

_LEAST = {"horizon": 1, "window": 20, "class_window": 20, "memory": 100, "class_memory": 100}


@dataclass(frozen=True)
class MonitorSettings:
    """Settings of :class:`masker.monitoring.DriftMonitor`.

    Attributes:
        alarm_rate: Probability of any false alarm, on the whole or in a class, within ``horizon`` texts.
        horizon: Number of texts that the rate is stated for.
        window: Texts that the sliding window compares with all before them.
        class_window: The same for the texts of one predicted class.
        memory: Scores kept in full; later ones are counted between them.
        class_memory: The same for each predicted class.
        seed: Of the random numbers that break ties and smooth the p-values.
    """

    alarm_rate: float = 0.01
    horizon: int = 100_000
    window: int = 500
    class_window: int = 200
    memory: int = 10_000
    class_memory: int = 1_000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 < self.alarm_rate < 1.0:
            raise ConfigError(f"alarm_rate: must lie between 0 and 1; got {self.alarm_rate!r}")
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                raise ConfigError(f"{name}: must be at least {least}; got {getattr(self, name)!r}")

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)
