"""Streams of scores with known truth, and what a monitor makes of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.monitoring import DriftMonitor, MonitorSettings

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

#: Five classes of different size; some look stranger than others.
NAMES = ("delivery", "refund", "login", "invoice", "other")
SHARES = np.array([0.4, 0.25, 0.2, 0.1, 0.05])
OFFSETS = np.array([0.0, 0.3, -0.3, 0.6, 0.0])
#: What the model takes foreign texts for.
FOREIGN_SHARES = np.array([0.1, 0.15, 0.15, 0.2, 0.4])
CHUNK = 500


@dataclass(frozen=True)
class Stream:
    """A calibration set and the traffic after it."""

    calibration: Floats
    calibration_labels: Places
    scores: Floats
    labels: Places


@dataclass(frozen=True)
class Truth:
    """How the traffic is made: a share of it is foreign from text ``at`` on."""

    calibration: int
    texts: int
    at: int = 0
    share: float = 0.0
    strangeness: float = 0.0
    kind: str = "foreign"  # or one of OTHER_CHANGES


def known(count: int, draw: np.random.Generator, shares: Floats = SHARES) -> tuple[Floats, Places]:
    labels = draw.choice(len(shares), count, p=shares)
    return draw.standard_normal(count) + OFFSETS[labels], labels


def make_stream(truth: Truth, seed: int) -> Stream:
    draw = np.random.default_rng(seed)
    calibration, calibration_labels = known(truth.calibration, draw)
    scores, labels = known(truth.texts, draw)
    OTHER_CHANGES.get(truth.kind, _foreign)(truth, scores, labels, draw)
    return Stream(calibration, calibration_labels, scores, labels)


def _replace_foreign(
    foreign: npt.NDArray[np.bool_], strangeness: float, scores: Floats, labels: Places, draw: np.random.Generator
) -> None:
    count = int(foreign.sum())
    scores[foreign] = draw.standard_normal(count) + strangeness
    labels[foreign] = draw.choice(len(SHARES), count, p=FOREIGN_SHARES)


def _foreign(truth: Truth, scores: Floats, labels: Places, draw: np.random.Generator) -> None:
    foreign = draw.random(truth.texts) < truth.share
    foreign[: truth.at] = False
    _replace_foreign(foreign, truth.strangeness, scores, labels, draw)


def _gradual(truth: Truth, scores: Floats, labels: Places, draw: np.random.Generator) -> None:
    """The share grows from 0 to ``share`` until the end."""
    shares = truth.share * np.clip((np.arange(truth.texts) - truth.at) / (truth.texts - truth.at), 0.0, 1.0)
    _replace_foreign(draw.random(truth.texts) < shares, truth.strangeness, scores, labels, draw)


def _classes(truth: Truth, scores: Floats, labels: Places, draw: np.random.Generator) -> None:
    """The class that looks strangest grows to ``share``; within a class nothing changes."""
    strangest = int(OFFSETS.argmax())
    shares = SHARES * (1.0 - truth.share) / (1.0 - SHARES[strangest])
    shares[strangest] = truth.share
    scores[truth.at :], labels[truth.at :] = known(truth.texts - truth.at, draw, shares)


def _duplicates(truth: Truth, scores: Floats, labels: Places, draw: np.random.Generator) -> None:
    """A share of the traffic is one known text over and over, which one in ten known texts is as strange as."""
    same = draw.random(truth.texts) < truth.share
    same[: truth.at] = False
    sample, sample_labels = known(2000, draw)
    place = np.argsort(sample)[int(0.9 * len(sample))]
    scores[same], labels[same] = sample[place], sample_labels[place]


#: Changes of the traffic other than a sudden share of foreign texts.
OTHER_CHANGES: dict[str, Callable[[Truth, Floats, Places, np.random.Generator], None]] = {
    "gradual": _gradual,
    "classes": _classes,
    "duplicates": _duplicates,
}


def watch(
    stream: Stream, settings: MonitorSettings, until: int | None = None, classes: Sequence[Any] = NAMES
) -> DriftMonitor:
    """A monitor after the stream, or after the first alarm, but not before text ``until``."""
    monitor = DriftMonitor(stream.calibration, stream.calibration_labels, classes, settings)
    for at in range(0, len(stream.scores), CHUNK):
        part = slice(at, at + CHUNK)
        monitor.observe(stream.scores[part], [classes[place] for place in stream.labels[part]])
        if monitor.alarm and (until is None or monitor.observed >= until):
            break
    return monitor


def first_alarm(monitor: DriftMonitor) -> int | None:
    """The number of the text that set off the first alarm."""
    state = monitor.state()
    return min((group["detected"] for group in (state["whole"], *state["classes"]) if group["alarm"]), default=None)


def p_values(stream: Stream) -> tuple[Floats, Floats]:
    """P-values of the calibration texts and of the traffic among the calibration: what other detectors are given."""
    ordered = np.sort(stream.calibration)
    size = len(ordered) + 1
    return tuple(  # type: ignore[return-value]
        (size - np.searchsorted(ordered, scores, side="left")) / size for scores in (stream.calibration, stream.scores)
    )


def delays(firsts: list[int | None], at: int) -> dict[str, Any]:
    """Median delay, counting streams without an alarm as infinite, and the share of streams with one.

    An alarm before the change is a false one and does not count as found.
    """
    found = [math.inf if first is None or first <= at else first - at for first in firsts]
    median = float(np.median(found))
    return {
        "streams": len(found),
        "median": None if math.isinf(median) else median,
        "found": float(np.isfinite(found).mean()),
        "early": float(np.mean([first is not None and first <= at for first in firsts])),
    }
