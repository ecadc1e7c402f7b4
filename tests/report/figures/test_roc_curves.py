"""ROC curves."""

from __future__ import annotations

from masker.report.figures.roc_curves import draw_roc_curves
from tests.report.figures.looks import drawn, texts_of
from tests.report.made_report import class_names, made_report


def test_a_curve_and_a_mark_for_each_set():
    report = made_report(class_names(3), foreign=("one", "two"))
    picture = drawn(draw_roc_curves, report)
    chance, *lines = picture.canvas.axes[0].lines
    assert chance.get_xydata().tolist() == [[0, 0], [1, 1]] and len(lines) == 4
    assert lines[0].get_xdata().tolist() == report.detection["one"].false_positives
    assert tuple(lines[3].get_xydata()[0]) == report.detection["two"].point
    auroc = report.evaluation["ood"]["two"]["auroc"]
    assert f"two: AUROC {auroc['value']:.3f} ({auroc['low']:.3f}–{auroc['high']:.3f})" in texts_of(picture)


def test_nothing_without_foreign_texts():
    assert drawn(draw_roc_curves, made_report(class_names(3), foreign=())) is None
