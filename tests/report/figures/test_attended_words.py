"""Attended words of two models."""

from __future__ import annotations

from dataclasses import replace

from masker.report.figures.attended_words import draw_attended_words
from tests.report.figures.looks import drawn
from tests.report.made_report import class_names, made_report

REPORT = made_report(class_names(2))


def test_side_by_side():
    picture = drawn(draw_attended_words, REPORT)
    assert [axes.get_title(loc="left") for axes in picture.canvas.axes] == ["made up", "vanilla"]
    assert "--compare" not in picture.caption
    assert "--compare" in drawn(draw_attended_words, replace(REPORT, attended=REPORT.attended[:1])).caption
    assert drawn(draw_attended_words, replace(REPORT, attended=[])) is None
