"""The ROC curve in counts: by hand, against scikit-learn, and of resamples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_curve as reference_curve

from masker.errors import DataError
from masker.metrics import roc_curve
from masker.metrics.roc import RankedScores

ID, OOD = [0.1, 0.2, 0.3, 0.4], [0.35, 0.5, 0.6, 0.7]
tied_scores = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=25)


def test_by_hand():
    """From the top: three OOD texts, the ID text at 0.4, the OOD text at 0.35, then the other ID texts."""
    curve = roc_curve(ID, OOD)
    assert curve.thresholds.tolist() == [np.inf, 0.7, 0.6, 0.5, 0.4, 0.35, 0.3, 0.2, 0.1]
    assert curve.false_positives.tolist() == [0, 0, 0, 0, 1, 1, 2, 3, 4]
    assert curve.true_positives.tolist() == [0, 1, 2, 3, 3, 4, 4, 4, 4]
    assert (curve.id_count, curve.ood_count) == (4, 4)
    assert curve.fpr.tolist() == [0, 0, 0, 0, 0.25, 0.25, 0.5, 0.75, 1]
    assert curve.tpr.tolist() == [0, 0.25, 0.5, 0.75, 0.75, 1, 1, 1, 1]


def test_ties_share_a_threshold():
    """ID 1 1 2, OOD 1 2: at 2 one of each is flagged, at 1 everything."""
    curve = roc_curve([1, 1, 2], [1, 2])
    assert curve.thresholds.tolist() == [np.inf, 2.0, 1.0]
    assert curve.false_positives.tolist() == [0, 1, 3]
    assert curve.true_positives.tolist() == [0, 1, 2]


@given(tied_scores, tied_scores)
@settings(max_examples=100, deadline=None)
def test_agrees_with_scikit_learn(id_scores, ood_scores):
    truth = np.r_[np.zeros(len(id_scores)), np.ones(len(ood_scores))]
    fpr, tpr, thresholds = reference_curve(truth, np.r_[id_scores, ood_scores], drop_intermediate=False)
    curve = roc_curve(id_scores, ood_scores)
    np.testing.assert_allclose(curve.fpr, fpr)
    np.testing.assert_allclose(curve.tpr, tpr)
    np.testing.assert_array_equal(curve.thresholds, thresholds)


@given(tied_scores, tied_scores, st.integers(0, 2**16))
@settings(max_examples=60, deadline=None)
def test_curve_of_rows_is_the_curve_of_their_scores(id_scores, ood_scores, seed):
    """At every threshold of the resampled scores the counts agree; at the others the last point is repeated."""
    generator = np.random.default_rng(seed)
    id_scores, ood_scores = np.asarray(id_scores), np.asarray(ood_scores)
    id_rows = generator.integers(0, id_scores.size, size=id_scores.size)
    ood_rows = generator.integers(0, ood_scores.size, size=ood_scores.size)
    resampled = RankedScores.of(id_scores, ood_scores).curve(id_rows, ood_rows)
    plain = roc_curve(id_scores[id_rows], ood_scores[ood_rows])
    kept = np.isin(resampled.thresholds, plain.thresholds)
    np.testing.assert_array_equal(resampled.false_positives[kept], plain.false_positives)
    np.testing.assert_array_equal(resampled.true_positives[kept], plain.true_positives)
    for place in np.flatnonzero(~kept):
        assert resampled.false_positives[place] == resampled.false_positives[place - 1]
        assert resampled.true_positives[place] == resampled.true_positives[place - 1]


def test_ranks_point_at_the_scores():
    ranked = RankedScores.of([3.0, 1.0, 3.0], [2.0, 1.0])
    assert ranked.scores.tolist() == [3.0, 2.0, 1.0]
    assert ranked.id_ranks.tolist() == [0, 2, 0]
    assert ranked.ood_ranks.tolist() == [1, 2]


def test_bad_scores_are_refused():
    with pytest.raises(DataError, match="ood_scores must not contain NaN"):
        RankedScores.of([1.0], [np.nan])
