"""Alternating measurements: on a noisy machine two things are compared only by taking turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One line of the table: how many times faster (or slower) ``what`` is than ``against``."""

    what: str
    against: str
    goal: str
    reached: bool | None
    ratio: float
    low: float
    high: float
    detail: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def alternate(cases: dict[str, Callable[[], float]], rounds: int, warmup: int = 1) -> dict[str, list[float]]:
    """Call each case in turn, ``rounds`` times; a case returns the work it did (documents, steps, calls).

    Returns:
        Seconds for one unit of work, by case, in the order of the rounds.
    """
    times: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(-warmup, rounds):
        for name, case in cases.items():
            start = time.perf_counter()
            work = case()
            seconds = (time.perf_counter() - start) / work
            if number >= 0:
                times[name].append(seconds)
    return times


def alternate_calls(
    cases: dict[str, Callable[[], object]], rounds: int, calls: int = 30, warmup: int = 20
) -> dict[str, list[float]]:
    """The median duration (p50) of single calls of each case, in turns.

    Every turn begins with calls that do not count: threads of the case before spin for a while after its last call,
    which a process that serves one model never sees.
    """
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, case in cases.items():
            for _ in range(warmup):
                case()
            turn = []
            for _ in range(calls):
                start = time.perf_counter()
                case()
                turn.append(time.perf_counter() - start)
            times[name].append(statistics.median(turn))
    return times


def compare(
    what: str, against: str, slow: list[float], fast: list[float], *, at_least: float | None = None,
    at_most: float | None = None,
) -> Row:  # fmt: skip
    """The median over rounds of slow / fast, with the smallest and largest round."""
    ratios = [a / b for a, b in zip(slow, fast, strict=True)]
    ratio = statistics.median(ratios)
    goal = f"at least {at_least:g}" if at_least is not None else f"at most {at_most:g}" if at_most is not None else "–"
    reached = None
    if at_least is not None:
        reached = ratio >= at_least
    elif at_most is not None:
        reached = ratio <= at_most
    detail = f"{_time(statistics.median(slow))} against {_time(statistics.median(fast))}"
    return Row(what, against, goal, reached, round(ratio, 3), round(min(ratios), 3), round(max(ratios), 3), detail)


def _time(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
