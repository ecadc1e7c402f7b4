"""The histogram of scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from masker.analysis.report_data import ScoreHistogram
from masker.report.figures.score_histogram import draw_score_histogram
from tests.report.figures.looks import drawn, texts_of
from tests.report.made_report import class_names, made_report

REPORT = made_report(class_names(3))


def test_shares_of_each_set_and_the_threshold():
    picture = drawn(draw_score_histogram, REPORT)
    [axes] = picture.canvas.axes
    assert [round(float(patch.get_data().values.sum()), 6) for patch in axes.patches] == [1.0, 1.0]
    np.testing.assert_allclose(axes.lines[0].get_xdata(), REPORT.scores.threshold)
    assert {"made-up test (300)", "reviews (300)", "threshold: rejected to the right"} <= texts_of(picture)


def test_a_bar_of_all_that_lies_beyond_is_cut_and_named():
    """Known: 3 of 4 in one bar; foreign: 9 of 10 in the last. The axis ends at 1.15 · 75 %."""
    scores = ScoreHistogram([0.0, 1.0, 2.0, 3.0, 4.0], {"known": [1, 3, 0, 0], "far": [0, 0, 1, 9]}, 2.5, False)
    picture = drawn(draw_score_histogram, replace(REPORT, scores=scores))
    assert picture.canvas.axes[0].get_ylim() == (0.0, pytest.approx(0.8625))
    assert {"known (4)", "far (10, 90 % in the last bar)"} <= texts_of(picture)


def test_thresholds_of_classes_are_mentioned_and_infinite_ones_not_drawn():
    assert (
        "threshold of their own"
        in drawn(draw_score_histogram, replace(REPORT, scores=replace(REPORT.scores, by_class=True))).caption
    )
    endless = replace(REPORT, scores=replace(REPORT.scores, threshold=np.inf))
    assert not drawn(draw_score_histogram, endless).canvas.axes[0].lines
