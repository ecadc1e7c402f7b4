"""Histogram of the scores, with the threshold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from masker.analysis.report_data import Report
from masker.report.figures.canvas import DASHES, SMALL, Picture, legend_above, new_canvas, percent_axis
from masker.report.plain_text import short_label
from masker.report.theme import LIGHT, set_colour


def draw_score_histogram(report: Report) -> Picture | None:
    """Scores of each set of documents."""
    shown = report.scores
    if shown is None:
        return None
    canvas = new_canvas(3.1)
    axes = canvas.subplots()
    edges = np.array(shown.edges)
    handles: list[Any] = []
    columns = {name: np.array(counts) / max(1, sum(counts)) for name, counts in shown.counts.items()}
    # All that lies beyond may be most of a set; its bar would flatten the others, so it is cut and the legend tells.
    top = 1.15 * max(shares[1:-1].max() for shares in columns.values()) or 1.0
    for place, (name, shares) in enumerate(columns.items()):
        beyond = f", {100 * shares[-1]:.0f} % in the last bar" if shares[-1] > top else ""
        label = f"{short_label(name)} ({sum(shown.counts[name])}{beyond})"
        colour = set_colour(place)
        patch = axes.stairs(
            shares, edges, fill=place == 0, color=colour, alpha=0.45 if place == 0 else None, label=label,
            linestyle=DASHES[place % len(DASHES)], linewidth=1.6,
        )  # fmt: skip
        handles.append(patch)
    if math.isfinite(shown.threshold):
        line = axes.axvline(shown.threshold, color=LIGHT["ink"], linewidth=1.2, linestyle=(0, (4, 2)))
        line.set_label("threshold: rejected to the right")
        handles.append(line)
    axes.set_xlabel("out-of-distribution score (higher = more foreign)")
    axes.set_ylabel("share of the set (%)")
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, top)
    axes.tick_params(labelsize=SMALL)
    percent_axis(axes.yaxis)
    legend_above(canvas, handles)
    caption = "How foreign each document looks; the outermost bars hold all that lies beyond."
    if len(shown.counts) > 1:
        caption += " The further apart the sets, the better they can be told apart."
    if shown.by_class:
        caption += " Some classes have a threshold of their own; the line is that of the others."
    return Picture("score-histogram", "Scores and threshold", caption, canvas)
