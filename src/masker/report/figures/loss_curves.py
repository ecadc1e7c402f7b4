"""The losses over the training steps, one panel each."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.lines import Line2D

from masker.analysis.report_data import Report
from masker.report.figures.canvas import DASHES, Picture, legend_above, new_canvas
from masker.report.plain_text import plain_text
from masker.report.theme import set_colour

#: The paper's terms, and what they mean.
TERMS = {
    "L_CE": "classification, L_CE",
    "L_MKR": "masked keywords, L_MKR",
    "L_MER": "masked context, L_MER",
    "L_attn": "uniform attention, L_attn",
}
#: The setting that weighs a term.
_WEIGHTS = {"L_MKR": "lambda_mkr", "L_MER": "lambda_mer", "L_attn": "lambda_attention"}


def draw_loss_curves(report: Report) -> Picture | None:
    """Networks of one stage are thin lines, their mean a thick one."""
    stages: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, curve in report.losses.items():
        if curve["step"]:
            stages[name.rpartition("/")[2]].append(curve)
    terms = [term for term in TERMS if any(term in curve for curves in stages.values() for curve in curves)]
    if not terms:
        return None
    canvas = new_canvas(0.7 + 1.25 * len(terms))
    # The trained method in the first colour, stages on the way to it in the others.
    order = sorted(stages, key=lambda stage: stage != report.model.method)
    for axes, term in zip(canvas.subplots(len(terms), 1, sharex=True, squeeze=False)[:, 0], terms, strict=True):
        for place, stage in enumerate(order):
            _draw_stage(axes, [curve for curve in stages[stage] if term in curve], term, place)
        axes.set_title(TERMS[term])
        axes.set_ylabel("nats" if report.model.classes or term != "L_CE" else "squared error")
        axes.set_ylim(bottom=0)
        axes.yaxis.get_major_locator().set_params(nbins=4)
    axes.set_xlabel("training step")
    axes.xaxis.get_major_locator().set_params(integer=True)
    handles = [
        Line2D([], [], color=set_colour(place), linestyle=DASHES[place], label=_stage_label(stage, len(stages[stage])))
        for place, stage in enumerate(order)
    ]
    legend_above(canvas, handles)
    caption = "Means over the documents of a step; thin lines are single networks and steps, thick ones their means."
    if len(terms) > 1:
        weights = report.settings["loss"]
        weighted = [f"{weights[name]:g} {term}" for term, name in _WEIGHTS.items() if term in terms]
        caption += f" Their weighted sum is trained: {' + '.join(['L_CE', *weighted])}."
    return Picture("losses", "Losses during training", caption, canvas)


def _stage_label(stage: str, networks: int) -> str:
    name = plain_text(stage)
    return name if networks == 1 else f"{name}: mean of {networks} cross-fitted networks"


def _draw_stage(axes: Any, curves: list[dict[str, Any]], term: str, place: int) -> None:
    colour = set_colour(place)
    if len(curves) > 1:
        for curve in curves:
            axes.plot(curve["step"], curve[term], color=colour, linewidth=0.7, alpha=0.45)
        shortest = min(len(curve["step"]) for curve in curves)
        mean = np.mean([curve[term][:shortest] for curve in curves], axis=0)
        axes.plot(curves[0]["step"][:shortest], mean, color=colour, linestyle=DASHES[place])
    for curve in curves if len(curves) == 1 else []:
        dot = "o" if len(curve["step"]) == 1 else None
        axes.plot(curve["step"], curve[term], color=colour, linewidth=0.7, alpha=0.45)
        axes.plot(curve["step"], smoothed(curve[term]), color=colour, linestyle=DASHES[place], marker=dot)


def smoothed(values: list[float]) -> npt.NDArray[np.float64]:
    """A running mean over a tenth of the points, which loses none at the ends."""
    width = 1 + 2 * (len(values) // 20)
    sums = np.convolve(values, np.ones(width), mode="same")
    return np.asarray(sums / np.convolve(np.ones(len(values)), np.ones(width), mode="same"))
