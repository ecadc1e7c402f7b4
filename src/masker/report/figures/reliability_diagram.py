"""Reliability diagram: how often answers of a given confidence are right."""

from __future__ import annotations

import numpy as np

from masker.analysis.report_data import Report
from masker.report.figures.canvas import Picture, new_canvas, percent_axis
from masker.report.theme import LIGHT, set_colour


def draw_reliability_diagram(report: Report) -> Picture | None:
    """Accuracy over confidence, and how many documents are behind each point."""
    if report.known is None:
        return None
    bins = report.known.reliability
    canvas = new_canvas(3.9)
    axes, below = canvas.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    confidence = np.array([one.confidence for one in bins])
    right = np.array([[one.right[key] for key in ("value", "low", "high")] for one in bins])
    axes.plot([0, 1], [0, 1], color=LIGHT["muted"], linewidth=0.8, linestyle=(0, (2, 2)))
    axes.vlines(confidence, right[:, 1], right[:, 2], color=set_colour(0), linewidth=2.4, alpha=0.5)
    marks = axes.scatter(confidence, right[:, 0], color=set_colour(0), s=26, linewidths=0, zorder=3)
    marks.set_gid("reliability-marks")
    tips = [
        f"confidence {100 * one.confidence:.0f} %: {100 * one.right['value']:.0f} % right "
        f"({100 * one.right['low']:.0f} to {100 * one.right['high']:.0f} %), {one.documents} documents"
        for one in bins
    ]
    axes.set_ylabel("right (%)")
    axes.set(xlim=(0, 1.02), ylim=(0, 1.02))
    below.bar(confidence, [one.documents for one in bins], width=0.03, color=set_colour(0), alpha=0.6)
    below.set_ylabel("documents")
    below.set_xlabel("confidence of the answer (%)")
    below.yaxis.get_major_locator().set_params(nbins=2, integer=True)
    percent_axis(axes.xaxis)
    percent_axis(axes.yaxis)
    caption = (
        "On the dotted line, confidence means what it says; below it the model is too sure of itself. Bars are 95 % "
        "intervals: long ones have few documents behind them."
    )
    return Picture("reliability", "Is its confidence right?", caption, canvas, {"reliability-marks": tips})
