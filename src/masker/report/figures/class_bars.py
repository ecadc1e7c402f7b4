"""Accuracy and false alarms of each class, with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from masker.analysis.report_data import ClassFigures, Report
from masker.report.figures.canvas import Picture, legend_above, new_canvas, percent_axis
from masker.report.plain_text import plain_text, short_label
from masker.report.theme import set_colour

#: Classes in the figure; a table holds all of them.
MOST_CLASSES = 30


def draw_class_bars(report: Report) -> Picture | None:
    """The weakest classes first."""
    if report.known is None:
        return None
    ranked = weakest_first(report.known.classes)
    shown = ranked[:MOST_CLASSES]
    canvas = new_canvas(0.95 + 0.24 * len(shown))
    axes = canvas.subplots()
    tips: dict[str, list[str]] = {}
    handles = []
    for kind, title, marker, colour, shift in (
        ("right", "right class", "o", set_colour(0), -0.12),
        ("rejected", "rejected (false alarms)", "D", set_colour(1), 0.16),
    ):
        figures: list[dict[str, float]] = [getattr(row, kind) for row in shown]
        places = np.arange(len(shown)) + shift
        ends: Any = ([one["low"] for one in figures], [one["high"] for one in figures])
        axes.hlines(places, *ends, color=colour, linewidth=2.2, alpha=0.4)
        marks = axes.scatter([one["value"] for one in figures], places, color=colour, marker=marker, s=20, zorder=3,
                             linewidths=0, label=title, clip_on=False, gid=f"class-{kind}")  # fmt: skip
        handles.append(marks)
        tips[f"class-{kind}"] = [
            f"{plain_text(row.name)}: {100 * one['value']:.0f} % {title} ({100 * one['low']:.0f} to "
            f"{100 * one['high']:.0f} %), {row.documents} documents"
            for row, one in zip(shown, figures, strict=True)
        ]
    axes.set_yticks(range(len(shown)), [f"{short_label(row.name)} ({row.documents})" for row in shown])
    axes.set(xlim=(-0.02, 1.02), ylim=(len(shown) - 0.5, -0.5))
    axes.set_xlabel("share of the class's documents (%)")
    percent_axis(axes.xaxis)
    legend_above(canvas, handles)
    caption = "With 95 % intervals; in brackets the number of documents."
    if len(ranked) > len(shown):
        caption = f"The {len(shown)} weakest of {len(ranked)} classes; the table below has all. {caption}"
    return Picture("classes", "Accuracy and false alarms by class", caption, canvas, tips)


def weakest_first(classes: list[ClassFigures]) -> list[ClassFigures]:
    """By accuracy, then by how many documents say so."""
    return sorted(classes, key=lambda row: (row.right["value"], -row.documents, row.name))
