"""All figures of a report, in the order in which the page has them."""

from __future__ import annotations

from collections.abc import Callable

from masker.analysis.report_data import Report
from masker.report.figures.attended_words import draw_attended_words
from masker.report.figures.canvas import Picture
from masker.report.figures.class_bars import draw_class_bars
from masker.report.figures.confusion_matrix import draw_confusion_matrix
from masker.report.figures.keyword_heat_map import draw_keyword_heat_map
from masker.report.figures.keyword_lists import draw_keyword_lists
from masker.report.figures.loss_curves import draw_loss_curves
from masker.report.figures.map_figure import draw_document_maps
from masker.report.figures.reliability_diagram import draw_reliability_diagram
from masker.report.figures.risk_curve import draw_risk_curve
from masker.report.figures.roc_curves import draw_roc_curves
from masker.report.figures.score_histogram import draw_score_histogram
from masker.report.figures.value_scatter import draw_value_scatter

Draw = Callable[[Report], Picture | None]

#: Section of the page -> its figures.
SECTIONS: dict[str, tuple[Draw, ...]] = {
    "Are its answers right?": (
        draw_class_bars,
        draw_reliability_diagram,
        draw_risk_curve,
        draw_value_scatter,
        draw_confusion_matrix,
    ),
    "Does it notice foreign text?": (draw_score_histogram, draw_roc_curves),
    "What does it look at?": (draw_keyword_lists, draw_attended_words, draw_keyword_heat_map),
    "How was it trained?": (draw_loss_curves,),
}
#: The section that maps belong to.
_MAPS = "Does it notice foreign text?"


def draw_pictures(report: Report) -> dict[str, list[Picture]]:
    """The figures that can be drawn, by section. To be called, and saved from, under the style of the canvas."""
    pictures = {}
    for section, draws in SECTIONS.items():
        drawn = [picture for draw in draws if (picture := draw(report)) is not None]
        pictures[section] = [*drawn, *(draw_document_maps(report) if section == _MAPS else [])]
    return pictures
