"""One stream of scores under watch: all traffic, or the texts of one predicted class."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.monitoring.change_martingale import PIECE, ChangeMartingale, Positions
from masker.monitoring.foreign_share import ForeignShare, foreign_share
from masker.monitoring.online_p_values import Exceedance, Floats, ScoreMemory
from masker.monitoring.packed_arrays import pack_array, unpack_array
from masker.monitoring.reference_martingale import CALIBRATION_LEVELS, ReferenceMartingale
from masker.monitoring.window_test import LEVELS, smallest_p_value, texts_between_looks

#: Earlier states of the memory that are kept besides those of the present window.
_OLDER = 16
MARTINGALE, WINDOW = "martingale", "window"
#: A text is called strange if its p-value is at most this, so this share of quiet traffic is. One of LEVELS.
STRANGE = 0.05


@dataclass(frozen=True)
class GroupLimits:
    """What is watched how, and when it is an alarm."""

    window: int
    memory: int
    martingale_rate: float  # probability that the martingale ever gives a false alarm
    look_level: float  # of one test of the window

    @property
    def every(self) -> int:
        """Texts between two looks at the window."""
        return texts_between_looks(self.window)


@dataclass(frozen=True)
class Alarm:
    """Numbers of texts in the whole traffic, from 1."""

    at: int  # the text that set it off
    since: int  # the text at which the change most likely began
    by: str  # the detector


class WatchedGroup:
    """P-values, both detectors, and the first alarm, which stays."""

    def __init__(self, scores: Floats, limits: GroupLimits, seed: tuple[int, ...]) -> None:
        self.limits = limits
        self.observed = 0
        self.alarm: Alarm | None = None
        self.evidence = self.highest = 0.0  # log10 of the martingale, now and ever
        self.window_p_value = self.lowest_p_value = 1.0  # of the window, now and ever
        self.reference_size = len(scores)
        self._memory = ScoreMemory(limits.memory, seed)
        self._memory.remember(scores)
        self._change = ChangeMartingale()
        self._reference = ReferenceMartingale(self._memory.exceedances(CALIBRATION_LEVELS))
        self._recent: Floats = np.empty(0)  # the scores of the window
        self._recent_at: Positions = np.empty(0, dtype=np.int64)  # and the numbers of its texts
        # Number of texts of the group, number of the last of them in the whole traffic, and the memory then.
        self._past: list[tuple[int, int, list[Exceedance]]] = [(0, 0, self._memory.exceedances(LEVELS))]

    def observe(self, scores: Floats, positions: Positions) -> tuple[npt.NDArray[np.bool_], Floats]:
        """Take in (b,) scores of texts with (b,) ascending numbers in the whole traffic.

        Returns:
            (b,) whether they are strange, as one in twenty texts is, and (b,) log10 of the martingale after each.
        """
        parts = [self._observe_part(scores[rows], positions[rows]) for rows in self._parts(len(scores))]
        if not parts:
            return np.empty(0, dtype=bool), np.empty(0)
        strange, evidence = zip(*parts, strict=True)
        return np.concatenate(strange), np.concatenate(evidence)

    def _parts(self, count: int) -> Iterator[slice]:
        """Slices that end where the window is looked at."""
        every, start = self.limits.every, 0
        while start < count:
            stop = min(count, start + PIECE, start + every - self.observed % every)
            yield slice(start, stop)
            start = stop

    def _observe_part(self, scores: Floats, positions: Positions) -> tuple[npt.NDArray[np.bool_], Floats]:
        scores, p_values = self._memory.rank(scores)
        # Two strategies with half of the capital each.
        evidence = np.log10((self._change.update(p_values, positions) + self._reference.update(scores)) / 2.0)
        over = evidence >= -math.log10(self.limits.martingale_rate)
        if over.any():
            first = int(over.argmax())
            self._raise(int(positions[first]), int(self._change.likely_start(first)), MARTINGALE)
        self.observed += len(scores)
        self.evidence, self.highest = float(evidence[-1]), max(self.highest, float(evidence.max()))
        self._recent = np.concatenate([self._recent, scores])[-self.limits.window :]
        self._recent_at = np.concatenate([self._recent_at, positions])[-self.limits.window :]
        if self.observed % self.limits.every == 0:
            self._look(int(positions[-1]))
        return self._strange(scores, p_values, positions), evidence

    def _strange(self, scores: Floats, p_values: Floats, positions: Positions) -> npt.NDArray[np.bool_]:
        """(b,) flags for a plot.

        Foreign texts are remembered as all others are, so after an alarm p-values tell less and less. Then scores are
        compared with those before the change.
        """
        strange = p_values <= STRANGE
        before = [] if self.alarm is None else self._before_change(self.alarm)
        if self.alarm is not None and before:
            known = before[LEVELS.index(STRANGE)].score
            strange = np.where(positions > self.alarm.at, scores > known, strange)
        return np.asarray(strange)

    def _look(self, position: int) -> None:
        reference = self._before(self.observed - len(self._recent))
        self.window_p_value = smallest_p_value(self._recent, reference)
        self.lowest_p_value = min(self.lowest_p_value, self.window_p_value)
        if self.window_p_value <= self.limits.look_level:
            self._raise(position, int(self._change.likely_start()), WINDOW)
        self._past.append((self.observed, position, self._memory.exceedances(LEVELS)))
        self._thin_out()

    def _before(self, count: int) -> list[Exceedance]:
        """What was known of the scores when the group had ``count`` texts, or the last time before."""
        return next(past for seen, _, past in reversed(self._past) if seen <= count)

    def _before_change(self, alarm: Alarm) -> list[Exceedance]:
        return next(past for _, position, past in reversed(self._past) if position < alarm.since)

    def _thin_out(self) -> None:
        """Keep the states that the window needs, and few of the older ones, the first among them."""
        older = sum(seen < self.observed - self.limits.window for seen, _, _ in self._past)
        if older > 2 * _OLDER:
            self._past = self._past[:older:2] + self._past[older:]

    def _raise(self, position: int, since: int, by: str) -> None:
        self.alarm = self.alarm or Alarm(position, since, by)

    def foreign_share(self) -> ForeignShare | None:
        """The share of foreign texts in the window, compared with everything before it.

        After an alarm: of those since the change, compared with everything before the change.
        """
        if self.alarm is None:
            return foreign_share(self._recent, self._before(self.observed - len(self._recent)))
        return foreign_share(self._recent[self._recent_at >= self.alarm.since], self._before_change(self.alarm))

    def state(self) -> dict[str, Any]:
        """JSON-ready."""
        share = self.foreign_share()
        return {
            "observed": self.observed,
            "reference": self.reference_size,
            "alarm": self.alarm is not None,
            "detected": None if self.alarm is None else self.alarm.at,
            "since": None if self.alarm is None else self.alarm.since,
            "detected_by": None if self.alarm is None else self.alarm.by,
            "evidence": self.evidence,
            "highest_evidence": self.highest,
            "evidence_limit": -math.log10(self.limits.martingale_rate),
            "window_p_value": self.window_p_value,
            "lowest_window_p_value": self.lowest_p_value,
            "window_limit": self.limits.look_level,
            "foreign_share": None if share is None else share.as_dict(),
        }

    def to_json(self) -> dict[str, Any]:
        """Everything that :meth:`from_json` needs to go on."""
        past = [[seen, position, *np.array(known).ravel().tolist()] for seen, position, known in self._past]
        return {
            "observed": self.observed,
            "alarm": None if self.alarm is None else asdict(self.alarm),
            "evidence": [self.evidence, self.highest, self.window_p_value, self.lowest_p_value],
            "reference_size": self.reference_size,
            "memory": self._memory.to_json(),
            "change": self._change.to_json(),
            "reference": self._reference.to_json(),
            "recent": pack_array(self._recent),
            "recent_at": pack_array(self._recent_at),
            "past": past,
        }

    @classmethod
    def from_json(cls, content: dict[str, Any], limits: GroupLimits) -> WatchedGroup:
        """The inverse of :meth:`to_json`."""
        group = cls(np.empty(0), limits, ())
        group.observed = int(content["observed"])
        group.alarm = None if content["alarm"] is None else Alarm(**content["alarm"])
        group.evidence, group.highest, group.window_p_value, group.lowest_p_value = map(float, content["evidence"])
        group.reference_size = int(content["reference_size"])
        group._memory = ScoreMemory.from_json(content["memory"])
        group._change = ChangeMartingale.from_json(content["change"])
        group._reference = ReferenceMartingale.from_json(content["reference"])
        group._recent, group._recent_at = unpack_array(content["recent"]), unpack_array(content["recent_at"])
        group._past = [
            (int(seen), int(position), [Exceedance(*known) for known in np.array(numbers).reshape(-1, 3).tolist()])
            for seen, position, *numbers in content["past"]
        ]
        if not group._past or group._past[0][0] != 0:
            raise ValueError("the beginning of the past is missing")
        return group
