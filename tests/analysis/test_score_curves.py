"""Histograms and ROC curves, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from masker.analysis.score_curves import CURVE_POINTS, detection_curve, score_histogram
from masker.detection.calibration import Calibration
from masker.detection.detector import Judgement


def rule(threshold: float) -> Calibration:
    zeros = np.zeros(30, dtype=int)
    return Calibration.fit(np.arange(30.0), zeros, 2, 0.05, class_conditional=False).with_threshold(threshold)


def judged(scores, threshold) -> Judgement:
    scores = np.asarray(scores, dtype=float)
    none = np.zeros(len(scores))
    return Judgement(none[:, None], none.astype(int), none, scores, none, scores > threshold)


def test_all_documents_are_counted_and_the_threshold_is_inside():
    sets = {"known": np.linspace(0, 1, 200), "foreign": np.linspace(0.5, 2, 100)}
    found = score_histogram(sets, rule(5.0))  # far right, as few held-out documents have it
    assert sum(found.counts["known"]) == 200 and sum(found.counts["foreign"]) == 100
    assert found.edges == sorted(found.edges) and found.edges[0] < 0 and found.edges[-1] > 5.0
    assert found.threshold == 5.0 and not found.by_class


def test_a_few_extreme_scores_do_not_squeeze_the_others():
    scores = np.concatenate([np.linspace(0, 1, 999), [1e6]])
    found = score_histogram({"known": scores}, rule(0.5))
    assert found.edges[-1] < 2 and sum(found.counts["known"]) == 1000
    assert found.counts["known"][-1] >= 1, "it is counted at the end"


def test_what_is_very_foreign_does_not_squeeze_what_is_known():
    """Known from 0 to 1 and a threshold of 1: bins reach to 1 + 2 · 1, and the rest is in the last one."""
    sets = {"known": np.linspace(0, 1, 201), "foreign": np.linspace(0, 100, 101)}
    found = score_histogram(sets, rule(1.0))
    assert found.edges[-1] == pytest.approx(3.0, abs=0.1) and sum(found.counts["foreign"]) == 101
    assert found.counts["foreign"][-1] > 90 and sum(count > 0 for count in found.counts["known"]) > 10


@pytest.mark.parametrize("threshold", [np.inf, -np.inf])
def test_a_threshold_that_rejects_nothing_or_everything(threshold):
    found = score_histogram({"known": np.linspace(0, 1, 50)}, rule(threshold))
    assert np.isfinite(found.edges).all()


def test_scores_that_are_all_alike_and_scores_that_are_not_finite():
    found = score_histogram({"known": np.ones(5)}, rule(1.0))
    assert sum(found.counts["known"]) == 5 and found.edges[0] < 1 < found.edges[-1]
    assert score_histogram({"known": np.full(3, np.inf)}, rule(1.0)) is None


def test_the_curve_and_the_point_of_the_rule():
    """Known 0, 1, 2, 3 and foreign 2.5, 4: above 2.9 lie one known and one foreign document."""
    curve = detection_curve(judged([0, 1, 2, 3], 2.9), judged([2.5, 4], 2.9))
    assert curve.point == (0.25, 0.5)
    assert list(zip(curve.false_positives, curve.true_positives, strict=True)) == [
        (0, 0), (0, 0.5), (0.25, 0.5), (0.25, 1.0), (0.5, 1.0), (0.75, 1.0), (1.0, 1.0),
    ]  # fmt: skip


def test_long_curves_are_thinned_and_keep_their_ends():
    draw = np.random.default_rng(0)
    curve = detection_curve(judged(draw.normal(size=2000), 0), judged(draw.normal(size=2000) + 1, 0))
    assert len(curve.false_positives) == CURVE_POINTS
    assert (curve.false_positives[0], curve.true_positives[0]) == (0.0, 0.0)
    assert (curve.false_positives[-1], curve.true_positives[-1]) == (1.0, 1.0)
