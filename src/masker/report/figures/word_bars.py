"""Lists of words with bars, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from masker.report.figures.canvas import SMALL, WIDTH, new_canvas
from masker.report.plain_text import short_label
from masker.report.theme import set_colour


def draw_word_bars(lists: Mapping[str, Sequence[Mapping[str, Any]]], x_title: str) -> Any:
    """A figure with one panel for each title; entries have ``word`` and ``score``."""
    longest = max(len(words) for words in lists.values())
    canvas = new_canvas(0.75 + 0.2 * longest, width=WIDTH if len(lists) > 1 else 0.75 * WIDTH)
    panels = canvas.subplots(1, len(lists), squeeze=False)[0]
    for place, (axes, (title, words)) in enumerate(zip(panels, lists.items(), strict=True)):
        bars_on(axes, words, title, place)
        axes.set_xlabel(x_title)
        axes.set_ylim(longest - 0.5, -0.5)
    return canvas


def bars_on(axes: Any, words: Sequence[Mapping[str, Any]], title: str, place: int = 0) -> None:
    """Horizontal bars, the first word on top."""
    axes.barh(range(len(words)), [entry["score"] for entry in words], color=set_colour(place), alpha=0.75, height=0.7)
    axes.set_yticks(range(len(words)), [short_label(entry["word"], 14) for entry in words], fontsize=SMALL)
    axes.set_ylim(len(words) - 0.5, -0.5)
    axes.set_title(title, fontsize=SMALL)
    axes.grid(visible=False, axis="y")
    axes.xaxis.get_major_locator().set_params(nbins=4)
