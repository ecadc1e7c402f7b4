"""Keywords of both schemes."""

from __future__ import annotations

from dataclasses import replace

from masker.report.figures.keyword_lists import draw_keyword_lists
from tests.report.figures.looks import drawn
from tests.report.made_report import class_names, made_report

REPORT = made_report(class_names(3))


def test_side_by_side():
    picture = drawn(draw_keyword_lists, REPORT)
    assert [axes.get_title(loc="left") for axes in picture.canvas.axes] == ["by attention (used)", "by frequency"]
    assert "trained with 70 by attention" in picture.caption


def test_a_model_without_keywords():
    unused = replace(REPORT, keywords=[replace(shown, trained_with=False) for shown in REPORT.keywords])
    assert "trained without keywords" in drawn(draw_keyword_lists, unused).caption
    assert drawn(draw_keyword_lists, replace(REPORT, keywords=[])) is None
