"""Values of a regression."""

from __future__ import annotations

from dataclasses import replace

from masker.report.figures.value_scatter import draw_value_scatter
from tests.report.figures.looks import drawn
from tests.report.made_report import class_names, made_report


def test_a_dot_for_each_document():
    report = replace(made_report(class_names(2)), values=[[0.0, 0.5], [2.0, 1.5]])
    axes = drawn(draw_value_scatter, report).canvas.axes[0]
    assert axes.collections[0].get_offsets().tolist() == [[0.0, 0.5], [2.0, 1.5]]
    assert axes.lines[0].get_xydata().tolist() == [[0.0, 0.0], [2.0, 2.0]]
    assert drawn(draw_value_scatter, replace(report, values=[])) is None
