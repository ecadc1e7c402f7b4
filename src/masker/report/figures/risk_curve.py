"""Risk-coverage curves: the errors that are left when only the most certain texts are answered."""

from __future__ import annotations

import numpy as np

from masker.analysis.report_data import Report
from masker.report.figures.canvas import DASHES, Picture, legend_above, new_canvas, percent_axis
from masker.report.theme import LIGHT, set_colour

_NAMES = {"confidence": "least confident rejected first", "ood_score": "most foreign rejected first"}


def draw_risk_curve(report: Report) -> Picture | None:
    """One curve by confidence and one by score, from ``masker evaluate``."""
    if report.evaluation is None or "selective" not in report.evaluation:
        return None
    canvas = new_canvas(3.2)
    axes = canvas.subplots()
    handles = []
    for place, (name, title) in enumerate(_NAMES.items()):
        found = report.evaluation["selective"][name]
        curve = np.array(found["curve"])
        label = f"{title} (AURC {found['aurc']['value']:.3f})"
        handles += axes.plot(curve[:, 0], curve[:, 1], color=set_colour(place), linestyle=DASHES[place], label=label)
    answered = 1 - report.evaluation["rejected"]
    line = axes.axvline(answered, color=LIGHT["ink"], linewidth=1.2, linestyle=(0, (4, 2)))
    line.set_label(f"answered now: {100 * answered:.1f} %")
    axes.set_xlabel("texts answered (%)")
    axes.set_ylabel("wrong among those answered (%)")
    axes.set_xlim(0, 1.01)
    axes.set_ylim(bottom=0)
    if axes.get_ylim()[1] < 0.02:
        axes.set_ylim(top=0.02)
    percent_axis(axes.xaxis)
    percent_axis(axes.yaxis)
    legend_above(canvas, [*handles, line])
    caption = "Read from right to left: how the share of wrong answers falls if more texts are left to a person."
    return Picture("risk-coverage", "Errors left when doubtful texts are not answered", caption, canvas)
