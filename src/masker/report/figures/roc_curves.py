"""ROC curves: what rejecting more foreign texts costs in false alarms."""

from __future__ import annotations

from masker.analysis.report_data import Report
from masker.report.figures.canvas import DASHES, MARKERS, Picture, legend_above, new_canvas, percent_axis
from masker.report.plain_text import short_label
from masker.report.theme import LIGHT, set_colour


def draw_roc_curves(report: Report) -> Picture | None:
    """One curve for each foreign set."""
    if not report.detection or report.evaluation is None:
        return None
    canvas = new_canvas(3.7)
    axes = canvas.subplots()
    axes.plot([0, 1], [0, 1], color=LIGHT["muted"], linewidth=0.8, linestyle=(0, (2, 2)))
    handles = []
    for place, (name, curve) in enumerate(report.detection.items(), start=1):
        auroc = report.evaluation["ood"][name]["auroc"]
        label = f"{short_label(name)}: AUROC {auroc['value']:.3f} ({auroc['low']:.3f}–{auroc['high']:.3f})"
        colour = set_colour(place)
        handles += axes.plot(
            curve.false_positives, curve.true_positives, color=colour, linestyle=DASHES[(place - 1) % len(DASHES)],
            label=label,
        )  # fmt: skip
        axes.plot(*curve.point, MARKERS[(place - 1) % len(MARKERS)], color=colour, markersize=7, clip_on=False,
                  markeredgecolor=LIGHT["surface"])  # fmt: skip
    axes.set_xlabel("known texts rejected (%): false alarms")
    axes.set_ylabel("foreign texts rejected (%)")
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    percent_axis(axes.xaxis)
    percent_axis(axes.yaxis)
    legend_above(canvas, handles)
    caption = "Every possible threshold; the mark is the one in use. The dotted line is chance."
    return Picture("roc", "Foreign texts found, against false alarms", caption, canvas)
