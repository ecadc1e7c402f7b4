"""The order of rows by a column of times: dates in ISO form, or numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.documents import Row
from masker.errors import DataError
from masker.labels import as_number

NUMBERS, DATES = "numbers", "dates"


def parse_time(value: object) -> tuple[float, str] | None:
    """A number to sort by and its kind, or ``None`` if the value is no time. Dates without a zone are taken as UTC."""
    if isinstance(value, datetime):
        return _seconds(value), DATES
    if isinstance(value, date):
        return _seconds(datetime(value.year, value.month, value.day)), DATES
    if isinstance(value, (int, float, Decimal, str)) and (number := as_number(value)) is not None:
        return number, NUMBERS
    if not isinstance(value, str):
        return None
    text = value.strip()
    try:
        # Python reads neither a small z nor a Z after a date alone.
        return _seconds(datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith(("Z", "z")) else text)), DATES
    except ValueError:
        return None


def _seconds(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def show_time(seconds: float, kind: str) -> str | float:
    """A time as it is shown and stored: a date in ISO form, in UTC, or the number itself."""
    if kind == NUMBERS:
        return seconds
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


class TimeColumn:
    """Reads the times of rows, all of one kind, and knows which of them an earlier run has seen."""

    def __init__(self, name: str, source: str, last: object = None) -> None:
        self.name, self.source = name, source
        self.last = last
        known = parse_time(last)
        self._last = -math.inf if known is None else known[0]
        self.kind: str | None = None if known is None else known[1]

    def read(self, row: Row) -> float:
        """The time of a row whose label is the value of the column."""
        parsed = parse_time(row.label)
        if parsed is None:
            shown = repr(row.label)[:60]
            raise DataError(
                f"{self.source}: column '{self.name}' must hold dates such as 2024-05-01T10:00:00 or numbers; got "
                f"{shown} at line {row.line}; fix it or pass --skip-invalid"
            )
        if self.kind not in (None, parsed[1]):
            raise DataError(
                f"{self.source}: column '{self.name}' has {parsed[1]} at line {row.line}, but {self.kind} before; "
                "write all times alike"
            )
        self.kind = parsed[1]
        return parsed[0]

    def is_new(self, time: float) -> bool:
        """Whether a row came after everything that the last run has seen."""
        return time > self._last

    def shown(self, times: npt.NDArray[np.float64]) -> list[Any]:
        """Times for people."""
        return [show_time(float(time), self.kind or NUMBERS) for time in times]


class TimedScores:
    """Scores and predicted classes of rows in any order, 20 bytes each, to be put into the order of their times."""

    def __init__(self) -> None:
        self._parts: list[tuple[npt.NDArray[Any], ...]] = []

    def add(self, times: Sequence[float], scores: npt.ArrayLike, predicted: npt.ArrayLike) -> None:
        """Append rows."""
        part = np.asarray(times, dtype=np.float64), np.asarray(scores, dtype=np.float64)
        self._parts.append((*part, np.asarray(predicted, dtype=np.int32)))

    def in_order(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int32], int]:
        """Times, scores and classes by time (rows of the same time stay in order), and how many rows were too late."""
        if not self._parts:
            return np.empty(0), np.empty(0), np.empty(0, dtype=np.int32), 0
        times, scores, predicted = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        late = int((times < np.maximum.accumulate(times)).sum())
        order = np.argsort(times, kind="stable")
        return times[order], scores[order], predicted[order], late
