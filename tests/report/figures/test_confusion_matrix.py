"""The confusion matrix."""

from __future__ import annotations

from dataclasses import replace

from masker.analysis.report_data import Confusion
from masker.report.figures.confusion_matrix import draw_confusion_matrix, most_mistaken
from masker.report.figures.matrix import MOST_ROWS
from tests.report.figures.looks import drawn
from tests.report.made_report import class_names, made_report


def test_every_square_says_what_it_is():
    report = made_report(class_names(3))
    picture = drawn(draw_confusion_matrix, report)
    confusion = report.known.confusion
    row, column, count = confusion.cells[0]
    total = sum(cell[2] for cell in confusion.cells if cell[0] == row)
    assert picture.tips["confusion-squares"][0] == (
        f"{confusion.rows[row]} → {confusion.columns[column]}: {count} of {total}"
    )
    assert len(picture.tips["confusion-squares"]) == len(confusion.cells)
    assert "foreign texts" in picture.caption and not picture.wide
    assert "foreign texts" not in drawn(draw_confusion_matrix, made_report(class_names(3), foreign=())).caption


def test_large_ones_scroll():
    assert drawn(draw_confusion_matrix, made_report(class_names(60), documents=200)).wide


def test_of_very_many_classes_those_with_the_most_mistakes_are_shown():
    """Classes 3 and 900 are taken for each other; a row keeps its total, though most of its answers are not shown."""
    names = [f"c{number}" for number in range(1000)]
    cells = [[number, number, 5] for number in range(1000)] + [[3, 900, 7], [900, 3, 1], [3, 1000, 2]]
    confusion = Confusion(names, [*names, "rejected"], sorted(cells))
    assert most_mistaken(confusion, 2) == [3, 900]
    assert most_mistaken(confusion, 2000) == list(range(1000))
    report = made_report(class_names(3), foreign=())
    picture = drawn(draw_confusion_matrix, replace(report, known=replace(report.known, confusion=confusion)))
    tips = picture.tips["confusion-squares"]
    assert "c3 → c900: 7 of 14" in tips and "c3 → rejected: 2 of 14" in tips and "c900 → c3: 1 of 6" in tips
    assert len(tips) == MOST_ROWS + 3 and picture.caption.startswith(f"The {MOST_ROWS} classes with the most mistakes")
