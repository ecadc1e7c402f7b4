"""Accuracy and false alarms by class."""

from __future__ import annotations

from masker.report.figures.class_bars import MOST_CLASSES, draw_class_bars, weakest_first
from tests.report.figures.looks import drawn, texts_of
from tests.report.made_report import class_names, made_report


def test_marks_and_intervals():
    report = made_report(class_names(4))
    rows = weakest_first(report.known.classes)
    picture = drawn(draw_class_bars, report)
    right_lines, right, alarm_lines, alarms = picture.canvas.axes[0].collections
    assert right.get_offsets()[:, 0].tolist() == [row.right["value"] for row in rows]
    assert alarms.get_offsets()[:, 0].tolist() == [row.rejected["value"] for row in rows]
    assert right_lines.get_segments()[0][:, 0].tolist() == [rows[0].right["low"], rows[0].right["high"]]
    assert alarm_lines.get_segments()[0][:, 0].tolist() == [rows[0].rejected["low"], rows[0].rejected["high"]]
    assert f"{rows[0].name} ({rows[0].documents})" in texts_of(picture)
    assert f"{rows[0].documents} documents" in picture.tips["class-right"][0]


def test_of_many_classes_the_weakest_are_shown():
    report = made_report(class_names(50), documents=500)
    picture = drawn(draw_class_bars, report)
    assert len(picture.canvas.axes[0].collections[1].get_offsets()) == MOST_CLASSES
    assert f"The {MOST_CLASSES} weakest of 50 classes" in picture.caption
    values = [row.right["value"] for row in weakest_first(report.known.classes)]
    assert values == sorted(values)
