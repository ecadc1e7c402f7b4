"""Every figure can be read, with few classes and with many, whatever they are called."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("matplotlib")

from masker.analysis.report_data import Report
from masker.report.figures.gallery import SECTIONS, draw_pictures
from tests.report.figures.looks import assert_readable, drawn
from tests.report.made_report import HOSTILE, class_names, made_report

LONG = [f"a rather long name of a class, number {n}" for n in range(28)]
REPORTS = {
    "2 classes": lambda: made_report(["ham", "spam"], foreign=()),
    "5 classes, 4 foreign sets": lambda: made_report(class_names(5), foreign=("a", "b", LONG[0], LONG[1])),
    "28 long names": lambda: made_report(LONG),
    "hostile names": lambda: made_report(HOSTILE, foreign=HOSTILE[:3]),
    "150 classes": lambda: made_report(class_names(150), documents=1000),
}


@pytest.mark.parametrize("kind", REPORTS)
def test_figures_can_be_read(kind):
    report = REPORTS[kind]()
    pictures = drawn(draw_pictures, report)
    assert list(pictures) == list(SECTIONS)
    names = [picture.name for part in pictures.values() for picture in part]
    assert len(names) == len(set(names)) == (11 if report.detection else 10)
    for part in pictures.values():
        for picture in part:
            assert picture.title and picture.caption
            assert_readable(picture)


def test_what_is_not_there_is_not_drawn():
    facts = made_report(class_names(2)).model
    assert not any(drawn(draw_pictures, Report(facts, [], None)).values())


def test_a_regression():
    facts = replace(made_report(class_names(2)).model, classes=[])
    losses = {"vanilla": {"step": [1, 2], "L_CE": [1.0, 0.5]}}
    pictures = drawn(draw_pictures, Report(facts, [], None, values=[[0.0, 0.5], [1.0, 1.2]], losses=losses))
    assert [picture.name for part in pictures.values() for picture in part] == ["values", "losses"]
    for part in pictures.values():
        for picture in part:
            assert_readable(picture)
