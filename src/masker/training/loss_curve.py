"""The losses of a training stage, step by step, for the training curves of a report.

A curve has at most :data:`MOST_POINTS` points: a longer training merges neighbouring steps, so what is kept with the
model stays small. In a distributed run it is the first process's share of the documents.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from masker.files import write_json

MOST_POINTS = 120
#: The curve of a finished stage, in its folder.
CURVE_FILE = "losses.json"
#: The curve so far, in the folder of a checkpoint.
_SUMS_FILE = "loss_sums.json"

#: ``step``, the last one behind each point, and the mean of each loss term over its documents.
Curve = dict[str, list[float]]


class LossCurve(TrainerCallback):  # type: ignore[misc]
    """Sums the loss terms of these names over the documents of each step."""

    def __init__(self, terms: Sequence[str]) -> None:
        self._terms = tuple(terms)
        self._points: list[list[float]] = []  # steps, documents and the sum of each term
        self._width = 1  # steps of a full point
        self._next = self._nothing()

    def _nothing(self) -> list[float]:
        return [1, 0, *(0.0 for _ in self._terms)]

    def add(self, sums: Mapping[str, float], documents: int) -> None:
        """Add the sums over the documents of one batch."""
        self._next[1] += documents
        for place, name in enumerate(self._terms, start=2):
            self._next[place] += sums.get(name, 0.0)  # a batch may have no masked view

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._points and self._points[-1][0] < self._width:
            self._points[-1] = _added(self._points[-1], self._next)
        else:
            self._points.append(self._next)
        self._next = self._nothing()
        if len(self._points) > MOST_POINTS:
            odd = self._points[-1:] if len(self._points) % 2 else []
            pairs = zip(self._points[::2], self._points[1::2], strict=False)
            self._points = [*(_added(one, two) for one, two in pairs), *odd]
            self._width *= 2

    def means(self) -> Curve:
        ends = accumulate(int(point[0]) for point in self._points)
        kept = [(end, point) for end, point in zip(ends, self._points, strict=True) if point[1]]
        terms = {
            name: [float(f"{point[place] / point[1]:.4g}") for _, point in kept]
            for place, name in enumerate(self._terms, start=2)
        }
        return {"step": [end for end, _ in kept], **terms}

    def save(self, folder: Path) -> None:
        """Write what there is so far beside a checkpoint."""
        write_json(folder / _SUMS_FILE, {"points": self._points, "width": self._width})

    def load(self, folder: Path) -> None:
        """Resume from what :meth:`save` wrote; a checkpoint of an earlier version has nothing."""
        if (folder / _SUMS_FILE).is_file():
            content = json.loads((folder / _SUMS_FILE).read_text(encoding="utf-8"))
            self._points, self._width = content["points"], content["width"]


def _added(one: list[float], two: list[float]) -> list[float]:
    return [first + second for first, second in zip(one, two, strict=True)]


def read_loss_curves(work: Path) -> dict[str, Curve]:
    """The curves of the finished stages of a work folder: ``vanilla``, ``masker``, ``fold-1/masker``, …"""
    files = sorted(work.rglob(CURVE_FILE))
    return {file.parent.relative_to(work).as_posix(): json.loads(file.read_text(encoding="utf-8")) for file in files}
