"""The reliability diagram."""

from __future__ import annotations

from masker.report.figures.reliability_diagram import draw_reliability_diagram
from tests.report.figures.looks import drawn
from tests.report.made_report import class_names, made_report


def test_points_intervals_and_documents():
    report = made_report(class_names(3))
    bins = report.known.reliability
    picture = drawn(draw_reliability_diagram, report)
    above, below = picture.canvas.axes
    intervals, marks = above.collections
    assert marks.get_offsets().tolist() == [[one.confidence, one.right["value"]] for one in bins]
    assert [line[:, 1].tolist() for line in intervals.get_segments()] == [
        [one.right["low"], one.right["high"]] for one in bins
    ]
    assert [bar.get_height() for bar in below.patches] == [one.documents for one in bins]
    assert len(picture.tips["reliability-marks"]) == len(bins)
    assert f"{bins[-1].documents} documents" in picture.tips["reliability-marks"][-1]
