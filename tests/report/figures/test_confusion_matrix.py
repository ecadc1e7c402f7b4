"""The confusion matrix."""

from __future__ import annotations

from masker.report.figures.confusion_matrix import draw_confusion_matrix
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
