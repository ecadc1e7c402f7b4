"""Predicted against true values of a regression."""

from __future__ import annotations

from masker.analysis.report_data import Report
from masker.report.figures.canvas import Picture, new_canvas
from masker.report.theme import LIGHT, set_colour


def draw_value_scatter(report: Report) -> Picture | None:
    """One dot for each document."""
    if not report.values:
        return None
    canvas = new_canvas(3.6)
    axes = canvas.subplots()
    true, predicted = zip(*report.values, strict=True)
    low, high = min(*true, *predicted), max(*true, *predicted)
    axes.plot([low, high], [low, high], color=LIGHT["muted"], linewidth=0.8, linestyle=(0, (2, 2)))
    axes.scatter(true, predicted, s=10, linewidths=0, alpha=0.5, color=set_colour(0))
    axes.set_xlabel("true value")
    axes.set_ylabel("predicted value")
    caption = "Each dot is a document; on the dotted line the prediction is exact."
    return Picture("values", "Predicted and true values", caption, canvas)
