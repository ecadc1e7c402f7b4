"""Risk-coverage curves."""

from __future__ import annotations

from masker.report.figures.risk_curve import draw_risk_curve
from tests.report.figures.looks import drawn, texts_of
from tests.report.made_report import class_names, made_report


def test_both_curves_and_what_is_answered_now():
    report = made_report(class_names(3))
    picture = drawn(draw_risk_curve, report)
    first, second, now = picture.canvas.axes[0].lines
    assert first.get_xydata().tolist() == report.evaluation["selective"]["confidence"]["curve"]
    assert second.get_xydata().tolist() == report.evaluation["selective"]["ood_score"]["curve"]
    answered = 1 - report.evaluation["rejected"]
    assert now.get_xdata()[0] == answered and f"answered now: {100 * answered:.1f} %" in texts_of(picture)
