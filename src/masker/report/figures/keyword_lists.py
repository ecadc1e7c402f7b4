"""The keywords of both schemes side by side, as in the paper."""

from __future__ import annotations

from masker.analysis.report_data import Report
from masker.report.figures.canvas import Picture
from masker.report.figures.word_bars import draw_word_bars


def draw_keyword_lists(report: Report) -> Picture | None:
    """One panel for each scheme."""
    if not report.keywords:
        return None
    lists = {f"by {shown.scheme}{' (used)' if shown.trained_with else ''}": shown.words for shown in report.keywords}
    canvas = draw_word_bars(lists, "score")
    used = next((shown for shown in report.keywords if shown.trained_with), None)
    caption = "The tokens that each scheme ranks first: attention by Eq. 2, frequency by Eq. 1 of the paper. "
    caption += (
        "It was trained without keywords." if used is None else f"It was trained with {used.total} by {used.scheme}."
    )
    return Picture("keywords", "Keywords", caption, canvas)
