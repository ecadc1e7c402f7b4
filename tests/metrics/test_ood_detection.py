"""Detection metrics by hand, against scikit-learn, and the laws they obey."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from masker.errors import ConfigError, MaskerError
from masker.metrics import (
    Interval,
    aupr,
    auroc,
    detection_accuracy,
    detection_report,
    eer,
    fpr_at_tpr,
    roc_curve,
    tnr_at_tpr,
)
from masker.metrics.ood_detection import _REPORTED
from masker.metrics.roc import RankedScores

ID = [0.1, 0.2, 0.3, 0.4]
OOD = [0.35, 0.5, 0.6, 0.7]
METRICS = [auroc, aupr, eer, detection_accuracy, tnr_at_tpr, fpr_at_tpr]
REPORTED_BY = {
    "auroc": auroc,
    "eer": eer,
    "detection_accuracy": detection_accuracy,
    "tnr_at_tpr80": tnr_at_tpr,
    "aupr": aupr,
    "fpr_at_tpr95": fpr_at_tpr,
}

# Few distinct values, so ties within and across the samples are the rule.
tied_scores = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=25)


def labelled(id_scores, ood_scores):
    truth = np.r_[np.zeros(len(id_scores)), np.ones(len(ood_scores))]
    return truth, np.r_[id_scores, ood_scores]


def brute_force_points(id_scores, ood_scores):
    """(TPR, FPR) at every threshold, straight from the definition."""
    id_scores, ood_scores = np.asarray(id_scores), np.asarray(ood_scores)
    thresholds = [np.inf, *sorted(set(id_scores) | set(ood_scores), reverse=True)]
    return [(np.mean(ood_scores >= t), np.mean(id_scores >= t)) for t in thresholds]


def test_hand_worked_example():
    """ID 0.1 0.2 0.3 0.4; OOD 0.35 0.5 0.6 0.7; thresholds from the top give (FP, TP):

    inf (0,0)  0.7 (0,1)  0.6 (0,2)  0.5 (0,3)  0.4 (1,3)  0.35 (1,4)  0.3 (2,4)  0.2 (3,4)  0.1 (4,4)

    AUROC     0.35 beats 3 of 4 ID scores, the rest beat all 4: (3 + 4 + 4 + 4) / 16 = 0.9375
    AUPR      precision at the four recalls: 1, 1, 1, 4/5; mean 0.95
    EER       at 0.4: FPR = 1/4, FNR = 1/4; so 0.25
    accuracy  at 0.5: (3 + 4) / 8 = 0.875, at 0.35: (4 + 3) / 8, no better elsewhere
    TNR@80    TPR 3/4 is too low, so 0.35: TNR = 3/4
    FPR@95    the same threshold: 1/4
    """
    assert auroc(ID, OOD) == 0.9375
    assert aupr(ID, OOD) == pytest.approx(0.95)
    assert eer(ID, OOD) == 0.25
    assert detection_accuracy(ID, OOD) == 0.875
    assert tnr_at_tpr(ID, OOD) == 0.75
    assert fpr_at_tpr(ID, OOD) == 0.25


def test_hand_worked_ties_and_interpolation():
    """ID 1 1 2; OOD 1 2. Thresholds give (FP, TP): inf (0,0), 2 (1,1), 1 (3,2).

    AUROC     OOD 1: half, half, lose = 1; OOD 2: win, win, half = 2.5; 3.5 / 6
    AUPR      1/2 * 1/2 + 1/2 * 2/5 = 0.45
    EER       FPR - FNR: -1, then 1/3 - 1/2 = -1/6, then 1; t = (1/6) / (7/6) = 1/7; 1/3 + 1/7 * 2/3 = 3/7
    accuracy  inf: 3/5; 2: (1 + 2) / 5; 1: 2/5
    TNR@50    2 has TPR 1/2: TNR = 2/3; TNR@80 needs 1: TNR = 0
    """
    assert auroc([1, 1, 2], [1, 2]) == pytest.approx(3.5 / 6)
    assert aupr([1, 1, 2], [1, 2]) == pytest.approx(0.45)
    assert eer([1, 1, 2], [1, 2]) == pytest.approx(3 / 7)
    assert detection_accuracy([1, 1, 2], [1, 2]) == pytest.approx(3 / 5)
    assert tnr_at_tpr([1, 1, 2], [1, 2], tpr=0.5) == pytest.approx(2 / 3)
    assert tnr_at_tpr([1, 1, 2], [1, 2]) == 0.0


def test_perfect_separation():
    scores = ([0.0, 0.1, 0.2], [0.5, 0.6])
    assert [metric(*scores) for metric in METRICS] == [1.0, 1.0, 0.0, 1.0, 1.0, 0.0]


def test_inverted_separation():
    """All OOD below all ID: AP is 1/2 * 1/4 + 1/2 * 2/5 = 0.325; the best threshold flags nothing: 3 of 5 right."""
    scores = ([0.5, 0.6, 0.7], [0.1, 0.2])
    expected = [0.0, 0.325, 1.0, 0.6, 0.0, 1.0]
    assert [metric(*scores) for metric in METRICS] == pytest.approx(expected)


def test_constant_score_is_chance():
    assert auroc([3, 3], [3, 3, 3]) == 0.5
    assert eer([3, 3], [3, 3, 3]) == 0.5
    assert aupr([3, 3], [3, 3, 3]) == pytest.approx(3 / 5)
    assert detection_accuracy([3, 3], [3, 3, 3]) == 3 / 5
    assert tnr_at_tpr([3, 3], [3, 3, 3]) == 0.0


def test_tpr_reached_exactly_is_not_missed_by_rounding():
    """0.55 * 20 is 11.000000000000002 in floating point; 11 of 20 must still count as 55 %."""
    ood = [5.0] * 11 + [0.0] * 9
    assert tnr_at_tpr([1.0] * 10, ood, tpr=0.55) == 1.0


@given(tied_scores, tied_scores)
@settings(max_examples=150, deadline=None)
def test_areas_agree_with_scikit_learn(id_scores, ood_scores):
    truth, scores = labelled(id_scores, ood_scores)
    assert auroc(id_scores, ood_scores) == pytest.approx(roc_auc_score(truth, scores), abs=1e-12)
    assert aupr(id_scores, ood_scores) == pytest.approx(average_precision_score(truth, scores), abs=1e-12)


def test_areas_agree_with_scikit_learn_on_a_larger_sample():
    generator = np.random.default_rng(0)
    id_scores, ood_scores = generator.normal(0, 1, 700).round(1), generator.normal(0.8, 1.5, 300).round(1)
    truth, scores = labelled(id_scores, ood_scores)
    assert auroc(id_scores, ood_scores) == pytest.approx(roc_auc_score(truth, scores), abs=1e-12)
    assert aupr(id_scores, ood_scores) == pytest.approx(average_precision_score(truth, scores), abs=1e-12)


@given(tied_scores, tied_scores, st.sampled_from([0.05, 0.5, 0.8, 0.95, 1.0]))
@settings(max_examples=150, deadline=None)
def test_threshold_metrics_agree_with_brute_force(id_scores, ood_scores, tpr):
    points = brute_force_points(id_scores, ood_scores)
    n, m = len(id_scores), len(ood_scores)
    best_accuracy = max((hit * m + (1 - false_alarm) * n) / (n + m) for hit, false_alarm in points)
    best_tnr = max(1 - false_alarm for hit, false_alarm in points if hit >= tpr)
    assert detection_accuracy(id_scores, ood_scores) == pytest.approx(best_accuracy)
    assert tnr_at_tpr(id_scores, ood_scores, tpr) == pytest.approx(best_tnr)
    assert fpr_at_tpr(id_scores, ood_scores, tpr) == pytest.approx(1 - best_tnr)


@given(tied_scores, tied_scores)
@settings(max_examples=150, deadline=None)
def test_eer_is_where_the_curve_crosses_the_diagonal(id_scores, ood_scores):
    """The point (EER, 1 - EER) lies on the curve drawn through the ROC points."""
    points = brute_force_points(id_scores, ood_scores)
    gaps = [false_alarm - (1 - hit) for hit, false_alarm in points]
    fpr_at_crossing = np.interp(0.0, gaps, [false_alarm for _, false_alarm in points])
    tpr_at_crossing = np.interp(0.0, gaps, [hit for hit, _ in points])
    rate = eer(id_scores, ood_scores)
    assert rate == pytest.approx(fpr_at_crossing)
    assert rate == pytest.approx(1 - tpr_at_crossing)


@given(tied_scores, tied_scores)
@settings(max_examples=100, deadline=None)
def test_monotone_map_changes_nothing(id_scores, ood_scores):
    def squash(scores):
        return np.exp(np.asarray(scores) / 3) - 100

    for metric in METRICS:
        assert metric(squash(id_scores), squash(ood_scores)) == metric(id_scores, ood_scores)


@given(tied_scores, tied_scores)
@settings(max_examples=100, deadline=None)
def test_symmetries(id_scores, ood_scores):
    """Swapping the samples turns AUROC round; swapping and negating leaves the symmetric metrics alone."""
    swapped = (-np.asarray(ood_scores), -np.asarray(id_scores))
    assert auroc(ood_scores, id_scores) == pytest.approx(1 - auroc(id_scores, ood_scores))
    for metric in (auroc, eer, detection_accuracy):
        assert metric(*swapped) == pytest.approx(metric(id_scores, ood_scores))


@given(tied_scores, tied_scores)
@settings(max_examples=100, deadline=None)
def test_all_are_rates(id_scores, ood_scores):
    for metric in METRICS:
        assert 0.0 <= metric(id_scores, ood_scores) <= 1.0
    assert detection_accuracy(id_scores, ood_scores) >= 0.5


def test_infinite_scores_are_ordered():
    assert auroc([-np.inf, 0.0], [1.0, np.inf]) == 1.0
    assert tnr_at_tpr([-np.inf, 0.0], [np.inf, np.inf]) == 1.0


@given(tied_scores, tied_scores, st.integers(0, 2**16))
@settings(max_examples=60, deadline=None)
def test_resampled_curve_equals_the_plain_functions_on_the_resampled_arrays(id_scores, ood_scores, seed):
    generator = np.random.default_rng(seed)
    id_scores, ood_scores = np.asarray(id_scores), np.asarray(ood_scores)
    id_rows = generator.integers(0, id_scores.size, size=id_scores.size)
    ood_rows = generator.integers(0, ood_scores.size, size=ood_scores.size)
    curve = RankedScores.of(id_scores, ood_scores).curve(id_rows, ood_rows)
    for name, metric in _REPORTED.items():
        plain = REPORTED_BY[name](id_scores[id_rows], ood_scores[ood_rows])
        assert metric(curve) == pytest.approx(plain, abs=1e-12), name


def test_report_equals_a_naive_bootstrap():
    generator = np.random.default_rng(5)
    id_scores, ood_scores = generator.normal(0, 1, 60).round(1), generator.normal(1, 1, 40).round(1)
    report = detection_report(id_scores, ood_scores, resamples=50, seed=3)
    draws = np.random.default_rng(3)
    samples = {name: [] for name in REPORTED_BY}
    for _ in range(50):
        resampled = id_scores[draws.integers(0, 60, size=60)], ood_scores[draws.integers(0, 40, size=40)]
        for name, metric in REPORTED_BY.items():
            samples[name].append(metric(*resampled))
    assert list(report) == list(REPORTED_BY)
    for name, metric in REPORTED_BY.items():
        assert report[name].value == metric(id_scores, ood_scores)
        assert [report[name].low, report[name].high] == pytest.approx(np.quantile(samples[name], [0.025, 0.975]))


def test_report_is_determined_by_its_seed():
    generator = np.random.default_rng(1)
    scores = generator.normal(0, 1, 80), generator.normal(1, 1, 80)
    first, again, other = (detection_report(*scores, resamples=100, seed=seed) for seed in (7, 7, 8))
    assert first == again
    assert first != other
    assert detection_report(*scores, resamples=20) == detection_report(*scores, resamples=20, seed=0)
    assert {name: i.value for name, i in first.items()} == {name: i.value for name, i in other.items()}


def test_report_on_perfect_separation_is_a_point():
    report = detection_report([0.0, 0.1], [1.0, 1.1, 1.2], resamples=20)
    assert report["auroc"] == Interval(1.0, 1.0, 1.0)
    assert report["eer"] == Interval(0.0, 0.0, 0.0)


def test_interval_covers_the_true_auroc():
    """For two unit Gaussians one apart the true AUROC is Phi(1 / sqrt 2) = 0.7602; about 95 % of intervals hold it."""
    generator = np.random.default_rng(0)
    inside = 0
    for trial in range(100):
        scores = generator.normal(0, 1, 80), generator.normal(1, 1, 80)
        interval = detection_report(*scores, resamples=150, seed=trial)["auroc"]
        inside += interval.low <= 0.7602 <= interval.high
    assert 88 <= inside <= 100


def test_interval_shrinks_with_the_sample():
    generator = np.random.default_rng(2)
    widths = []
    for size in (50, 5000):
        interval = detection_report(generator.normal(0, 1, size), generator.normal(1, 1, size), resamples=100)["auroc"]
        widths.append(interval.high - interval.low)
    assert widths[1] < widths[0] / 5


def test_report_is_fast():
    """5,000 + 5,000 scores and 1,000 resamples: 0.3 s when measured; the bound leaves room for a busy machine."""
    generator = np.random.default_rng(0)
    scores = generator.normal(0, 1, 5000), generator.normal(1, 1, 5000)
    start = time.process_time()
    detection_report(*scores)
    assert time.process_time() - start < 5.0


@pytest.mark.parametrize("metric", [*METRICS, roc_curve, detection_report])
@pytest.mark.parametrize(
    ("id_scores", "ood_scores", "words"),
    [
        ([], [1.0], "id_scores must hold at least one number"),
        ([1.0], [], "ood_scores must hold at least one number"),
        ([1.0, np.nan], [1.0], "id_scores must not contain NaN; received 1 among 2 numbers, the first at position 1"),
        ([1.0], [np.nan], "ood_scores must not contain NaN"),
        ([[1.0, 2.0]], [1.0], r"id_scores must be one-dimensional; received shape \(1, 2\)"),
        ([1.0], 3.0, "ood_scores must be one-dimensional"),
        (["high"], [1.0], "id_scores must be a flat list of numbers"),
        ([[1.0], [2.0, 3.0]], [1.0], "id_scores must be a flat list of numbers"),
    ],
)
def test_bad_scores_are_refused_in_one_line(metric, id_scores, ood_scores, words):
    with pytest.raises(MaskerError, match=words) as caught:
        metric(id_scores, ood_scores)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("tpr", [0.0, -0.1, 1.1, 80, np.nan])
@pytest.mark.parametrize("metric", [tnr_at_tpr, fpr_at_tpr])
def test_bad_tpr_is_refused(metric, tpr):
    with pytest.raises(ConfigError, match=r"tpr must be in \(0, 1\]; received"):
        metric(ID, OOD, tpr=tpr)
