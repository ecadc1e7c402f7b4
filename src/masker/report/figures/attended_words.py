"""The words that two models attend to most, side by side, as in the paper."""

from __future__ import annotations

from masker.analysis.report_data import Report
from masker.report.figures.canvas import Picture
from masker.report.figures.word_bars import draw_word_bars
from masker.report.plain_text import short_label


def draw_attended_words(report: Report) -> Picture | None:
    """One panel for each model."""
    if not report.attended:
        return None
    lists = {short_label(shown.model, 20): shown.words for shown in report.attended}
    canvas = draw_word_bars(lists, "mean attention")
    caption = (
        f"Attention of the document token in the last layer to a word of the {report.attended[0].documents} set, on "
        "average over the documents that contain it."
    )
    if len(report.attended) == 1:
        caption += " Give a second model with --compare to see both."
    return Picture("attended-words", "Words it attends to most", caption, canvas)
