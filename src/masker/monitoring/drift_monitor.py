"""DriftMonitor: has the traffic changed since the calibration, on the whole or in one class? No labels needed.

::

    monitor = DriftMonitor.of(model.detector.calibration, model.labels)
    for batch in traffic:
        answers = model.predict(batch)
        monitor.observe([a.ood_score for a in answers], [a.label for a in answers])
    print(monitor.state()["sentence"])

With nothing changed, the probability of any alarm within ``horizon`` texts is at most ``alarm_rate``. A quarter of it
goes to each of four detectors: the martingale of the whole traffic and those of all classes together, which spend it
once, over all time; and the window of the whole traffic and those of all classes together, which spend it in any
``horizon`` texts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from masker.errors import DataError
from masker.monitoring.drift_words import drift_sentence
from masker.monitoring.monitor_settings import MonitorSettings
from masker.monitoring.traffic_series import Block, TrafficSeries
from masker.monitoring.watched_group import STRANGE, GroupLimits, WatchedGroup
from masker.monitoring.window_test import look_level, texts_between_looks

if TYPE_CHECKING:
    from masker.detection.calibration import Calibration

FORMAT = 1
_QUARTER = 0.25


class DriftMonitor:
    """Watches the scores of a model's traffic. Not thread-safe: observe from one thread, or hold a lock.

    Args:
        scores: (n,) out-of-distribution scores of held-out in-distribution texts; none: the traffic is compared with
            its own past only.
        predicted: (n,) the index of the class that the model gave each of them.
        classes: The model's labels, in the order of its outputs.
        settings: What is promised.
    """

    def __init__(
        self,
        scores: npt.ArrayLike,
        predicted: npt.ArrayLike,
        classes: Sequence[Any],
        settings: MonitorSettings | None = None,
    ) -> None:
        self.settings = settings or MonitorSettings()
        self.classes = list(classes)
        self.observed = 0
        known, predicted = np.asarray(scores, dtype=np.float64), np.asarray(predicted, dtype=np.int64)
        self.reference = calibration_fingerprint(known, self.classes)
        self.last_time: Any = None
        whole, each = group_limits(self.settings, len(self.classes))
        self._index = {label: place for place, label in enumerate(self.classes)}
        self._whole = WatchedGroup(known, whole, (self.settings.seed,))
        self._groups = [
            WatchedGroup(known[predicted == place], each, (self.settings.seed, place + 1))
            for place in range(len(self.classes))
        ]
        self._series = TrafficSeries(whole.every)

    @classmethod
    def of(
        cls, calibration: Calibration, classes: Sequence[Any], settings: MonitorSettings | None = None
    ) -> DriftMonitor:
        """A monitor that compares with the texts a model was calibrated on; ``classes`` are the model's labels."""
        return cls(calibration.scores, calibration.predicted, classes, settings)

    @property
    def alarm(self) -> bool:
        """Whether there has been an alarm, on the whole or in a class. It stays: start a new monitor to begin anew."""
        return any(group.alarm is not None for group in (self._whole, *self._groups))

    def observe(self, scores: npt.ArrayLike, labels: Sequence[Any], times: Sequence[Any] | None = None) -> None:
        """Take in texts in the order in which they came.

        Args:
            scores: (b,) their out-of-distribution scores.
            labels: (b,) their predicted labels, members of ``classes``.
            times: (b,) when they came, strings or numbers, only to be shown.

        Raises:
            DataError: If a score is not finite, a label is not known, or there is not one of each per text.
        """
        values = np.asarray(scores, dtype=np.float64)
        if values.ndim != 1 or len(labels) != len(values) or (times is not None and len(times) != len(values)):
            raise DataError(
                f"observe: give one score and one label for each text; got {values.shape} and {len(labels)}"
            )
        if not np.isfinite(values).all():
            raise DataError("observe: a score is not a finite number; check what the model returns")
        try:
            places = np.array([self._index[label] for label in labels], dtype=np.int64)
        except (KeyError, TypeError) as error:
            raise DataError(f"observe: label {error} is not one of the model's classes") from None
        positions = self.observed + 1 + np.arange(len(values))
        self._observe_whole(values, positions, times)
        for place in np.unique(places):
            here = places == place
            self._groups[place].observe(values[here], positions[here])
        self.observed += len(values)
        if times is not None and len(times):
            self.last_time = times[-1]

    def _observe_whole(
        self, scores: npt.NDArray[np.float64], positions: npt.NDArray[np.int64], times: Sequence[Any] | None
    ) -> None:
        strange, evidence = self._whole.observe(scores, positions)
        step, start = self._series.step, 0
        while start < len(scores):
            stop = min(len(scores), start + step - (int(positions[start]) - 1) % step)
            time, highest = None if times is None else times[start], float(evidence[start:stop].max())
            count = int(strange[start:stop].sum())
            self._series.add(Block(int(positions[start]), time, stop - start, count, highest))
            start = stop

    def state(self) -> dict[str, Any]:
        """What there is to say, JSON-ready and small: figures of the whole and of each class, blocks for a plot."""
        whole = self._timed(self._whole.state())
        classes = [
            {"label": label, **self._timed(group.state())}
            for label, group in zip(self.classes, self._groups, strict=True)
        ]
        alarms = [group for group in (whole, *classes) if group["alarm"]]
        first = min(alarms, key=lambda group: group["detected"], default=None)
        state = {
            "observed": self.observed,
            "alarm": bool(alarms),
            "since": None if first is None else first["since"],
            "since_time": None if first is None else first["since_time"],
            "evidence": whole["evidence"],
            "foreign_share": whole["foreign_share"],
            "whole": whole,
            "classes": classes,
            "expected_strange": STRANGE,
            "series": self._series.whole(),
            "recent": self._series.recent(),
            "settings": self.settings.as_dict(),
        }
        return {"sentence": drift_sentence(state), **state}

    def _timed(self, group: dict[str, Any]) -> dict[str, Any]:
        times = {
            f"{name}_time": None if group[name] is None else self._series.time_of(group[name])
            for name in ("detected", "since")
        }
        return {**group, **times}

    def to_json(self) -> dict[str, Any]:
        """Everything that :meth:`from_json` needs to go on as if nothing had happened, JSON-ready."""
        return {
            "format": FORMAT,
            "settings": self.settings.as_dict(),
            "classes": self.classes,
            "observed": self.observed,
            "reference": self.reference,
            "last_time": self.last_time,
            "whole": self._whole.to_json(),
            "groups": [group.to_json() for group in self._groups],
            "series": self._series.to_json(),
        }

    @classmethod
    def from_json(cls, content: Any) -> DriftMonitor:
        """The inverse of :meth:`to_json`.

        Raises:
            DataError: If it is not what :meth:`to_json` gave.
        """
        try:
            if content["format"] != FORMAT:
                raise DataError(
                    f"the state of the monitor has format {content['format']!r}; this version reads {FORMAT}"
                )
            monitor = cls((), (), content["classes"], MonitorSettings(**content["settings"]))
            whole, each = group_limits(monitor.settings, len(monitor.classes))
            monitor.observed = int(content["observed"])
            monitor.reference, monitor.last_time = str(content["reference"]), content["last_time"]
            monitor._whole = WatchedGroup.from_json(content["whole"], whole)
            monitor._groups = [WatchedGroup.from_json(group, each) for group in content["groups"]]
            monitor._series = TrafficSeries.from_json(content["series"])
            if len(monitor._groups) != len(monitor.classes):
                raise ValueError(f"{len(monitor.classes)} classes, {len(monitor._groups)} groups")
        except (KeyError, TypeError, ValueError, IndexError, StopIteration) as error:
            raise DataError(f"the monitor's state is damaged ({error!r}); start a new one") from None
        return monitor


def group_limits(settings: MonitorSettings, classes: int) -> tuple[GroupLimits, GroupLimits]:
    """The limits of the whole traffic and those of each class."""
    part = settings.alarm_rate * _QUARTER

    def limits(window: int, memory: int, groups: int) -> GroupLimits:
        level = look_level(part, settings.horizon, texts_between_looks(window), groups)
        return GroupLimits(window, memory, part / groups, level)

    whole = limits(settings.window, settings.memory, 1)
    return whole, limits(settings.class_window, settings.class_memory, max(1, classes))


def calibration_fingerprint(scores: npt.NDArray[np.float64], classes: Sequence[Any]) -> str:
    """Tells the calibrations of two models apart."""
    digest = hashlib.sha256(np.sort(scores).astype("<f8").tobytes())
    digest.update(repr(list(classes)).encode())
    return digest.hexdigest()
