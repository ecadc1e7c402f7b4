"""river's drift detectors on streams of p-values. Runs in an environment of its own, without masker.

``python river_system.py STREAMS.npz RESULT.json``: the file has (S, T) ``values``; for each detector and each of its
parameters the result has the numbers (from 1) of the texts at which each stream was called changed first, at or after
text ``after``; null if never.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

#: The first of each is river's default.
DELTAS = (2e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6)
ALPHAS = (5e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
#: Sizes of KSWIN's windows: river's default, and larger ones.
WINDOWS = ((100, 30), (1000, 300))


def adwin(values: Any, delta: float, after: int) -> int | None:
    from river.drift import ADWIN

    detector = ADWIN(delta=delta)
    for number, value in enumerate(values, start=1):
        detector.update(value)
        if detector.drift_detected and number >= after:
            return number
    return None


def kswin(values: Any, windows: tuple[int, int], after: int) -> list[int | None]:
    """For each alpha: detections do not change what KSWIN tests next, except that it starts its window anew."""
    from river.drift import KSWIN

    detector = KSWIN(alpha=0.0, window_size=windows[0], stat_size=windows[1], seed=0)
    firsts: list[int | None] = [None] * len(ALPHAS)
    for number, value in enumerate(values, start=1):
        detector.update(value)
        if number < max(after, windows[0]):
            continue
        for place, alpha in enumerate(ALPHAS):
            if firsts[place] is None and detector.p_value <= alpha:
                firsts[place] = number
        if firsts[-1] is not None:
            break
    return firsts


def run(values: Any, after: int, most: dict[str, int]) -> dict[str, Any]:
    """First detections of all detectors; KSWIN is slow, so it gets the first streams only."""
    result: dict[str, Any] = {
        "ADWIN": {str(delta): [adwin(row, delta, after) for row in values[: most["ADWIN"]]] for delta in DELTAS}
    }
    for windows, name in zip(WINDOWS, ("KSWIN", "KSWIN 1000"), strict=True):
        rows = [kswin(row, windows, after) for row in values[: most[name]]]
        result[name] = {str(alpha): [row[place] for row in rows] for place, alpha in enumerate(ALPHAS)}
    return result


def main() -> None:
    source, target = map(Path, sys.argv[1:])
    task = np.load(source, allow_pickle=False)
    most = dict(zip(("ADWIN", "KSWIN", "KSWIN 1000"), task["most"].tolist(), strict=True))
    result = {"version": version("river"), "firsts": run(task["values"], int(task["after"]), most)}
    target.write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
