"""Whether a figure can be read: nothing written outside of it, and nothing over something else."""

from __future__ import annotations

import warnings
from unittest.mock import patch

import matplotlib
import numpy as np
from matplotlib.text import Text

from masker.report.figures.canvas import STYLE, Picture


def drawn(draw, report) -> Picture | None:
    """A figure under the style of reports."""
    with matplotlib.rc_context(STYLE):
        return draw(report)


def writing(picture: Picture) -> dict[str, np.ndarray]:
    """The box (left, bottom, right, top) of everything that is written, in pixels, by a name of its own."""
    texts = []

    def record(self, renderer):
        if self.get_visible() and self.get_text().strip():
            texts.append(self)

    with matplotlib.rc_context(STYLE), warnings.catch_warnings(), patch.object(Text, "draw", record):
        warnings.simplefilter("ignore")
        picture.canvas.draw_without_rendering()
        return {f"{n}: {one.get_text()}": one.get_window_extent().extents for n, one in enumerate(texts)}


def texts_of(picture: Picture) -> set[str]:
    return {name.partition(": ")[2] for name in writing(picture)}


def assert_readable(picture: Picture, tolerance: float = 1.5) -> None:
    boxes = writing(picture)
    names, corners = list(boxes), np.array(list(boxes.values()))
    width, height = picture.canvas.bbox.extents[2:]
    for name, (left, bottom, right, top) in boxes.items():
        inside = (
            left >= -tolerance and bottom >= -tolerance and right <= width + tolerance and top <= height + tolerance
        )
        assert inside, f"{picture.name}: '{name}' leaves the figure"
    across = np.minimum(corners[:, None, 2], corners[None, :, 2]) - np.maximum(corners[:, None, 0], corners[None, :, 0])
    along = np.minimum(corners[:, None, 3], corners[None, :, 3]) - np.maximum(corners[:, None, 1], corners[None, :, 1])
    clash = np.argwhere(np.triu((across > tolerance) & (along > tolerance), 1))
    assert not len(clash), f"{picture.name}: " + "; ".join(f"'{names[a]}' over '{names[b]}'" for a, b in clash[:5])
