"""Every score: fitted, stored as arrays, rebuilt, and the same again."""

from typing import get_args

import numpy as np
import pytest
from scipy.special import expit

from masker.config import METHODS_WITH_RULE, METHODS_WITH_SCORE, DetectionSettings, ScoreName, build_settings
from masker.detection.baseline_scores import METHOD_SCORES
from masker.detection.network_scores import FEATURE_SCORES, LOGIT_SCORES, SCORE_NAMES, make_score
from masker.detection.statistics import Known, bank_rows, gather
from masker.errors import ConfigError, ModelError
from masker.inference.features import ENCODER_KINDS, FROZEN
from masker.inference.linear_backend import VECTORS
from masker.inference.outputs import Outputs

DRAW = np.random.default_rng(0)
LABELS = np.arange(60) % 3
LOGITS = (4.0 * np.eye(3)[LABELS] + DRAW.normal(size=(60, 3))).astype(np.float32)
FEATURES = np.eye(3)[LABELS] + 0.1 * DRAW.normal(size=(60, 3))
KINDS = (*ENCODER_KINDS, FROZEN)
TRAIN = Outputs(LOGITS, {VECTORS: FEATURES, **{kind: FEATURES.astype(np.float32) for kind in KINDS}})
STRANGE = Outputs(
    np.full((1, 3), -0.5, dtype=np.float32),
    {VECTORS: np.full((1, 3), 5.0), **{kind: np.array([[5.0, -5.0, 5.0]], dtype=np.float32) for kind in KINDS}},
)
METHODS = sorted(METHOD_SCORES)


def fit(method: str, **baselines):
    settings = build_settings({"training": {"method": method}, "baselines": baselines})
    return METHOD_SCORES[method].fit(TRAIN, LABELS, settings), settings


def known(stream=(TRAIN,), bank=1000) -> Known:
    return gather(stream, LABELS, 3, KINDS, bank, 0)


def make(name: str, of: Known | None = None):
    return make_score(name, of, "one-vs-rest", DetectionSettings())


class TestComparisonSystems:
    def test_methods_with_a_score(self):
        assert set(METHOD_SCORES) == set(METHODS_WITH_SCORE)
        for method, score in METHOD_SCORES.items():
            assert (score.published_threshold is not None) == (method in METHODS_WITH_RULE)

    @pytest.mark.parametrize("method", METHODS)
    def test_rebuilt_from_its_arrays_it_says_the_same(self, method):
        score, settings = fit(method)
        again = METHOD_SCORES[method].from_statistics(score.statistics(), settings)
        np.testing.assert_array_equal(again.ood_score(TRAIN), score.ood_score(TRAIN))

    @pytest.mark.parametrize("method", METHODS)
    def test_what_resembles_no_class_scores_higher(self, method):
        score, _ = fit(method)
        assert score.ood_score(STRANGE)[0] > np.median(score.ood_score(TRAIN))

    @pytest.mark.parametrize("method", ["openmax", "doc"])
    def test_scores_of_logits_need_no_features(self, method):
        score, _ = fit(method)
        assert not score.features
        np.testing.assert_array_equal(score.ood_score(Outputs(LOGITS)), score.ood_score(TRAIN))

    def test_doc_rejects_where_all_classes_are_below_their_threshold(self):
        score, _ = fit("doc")
        below = (expit(LOGITS.astype(np.float64)) < score.statistics()["thresholds"]).all(axis=1)
        np.testing.assert_array_equal(score.ood_score(TRAIN) > score.published_threshold, below)

    def test_large_corpora_leave_the_exact_solver(self):
        small, large, sgd = (
            fit("ocsvm", **options)[0].ood_score(TRAIN)
            for options in ({}, {"ocsvm_exact_limit": 59}, {"ocsvm_solver": "sgd"})
        )
        np.testing.assert_array_equal(large, sgd)
        assert not np.allclose(small, large)


class TestNetworkScores:
    def test_names_are_those_of_the_settings(self):
        assert {"auto", *SCORE_NAMES} == set(get_args(ScoreName))

    @pytest.mark.parametrize("name", SCORE_NAMES)
    def test_what_resembles_no_class_scores_higher(self, name):
        score = make(name, known())
        assert score.name == name
        assert score.ood_score(STRANGE)[0] > np.median(score.ood_score(TRAIN))

    @pytest.mark.parametrize("name", SCORE_NAMES)
    def test_rebuilt_from_stored_statistics_it_says_the_same(self, name):
        first = known()
        again = Known.from_arrays(first.to_arrays())
        np.testing.assert_array_equal(make(name, again).ood_score(STRANGE), make(name, first).ood_score(STRANGE))

    @pytest.mark.parametrize("name", SCORE_NAMES)
    def test_reads_no_more_than_it_says(self, name):
        score = make(name, known())
        only = Outputs(LOGITS, {kind: TRAIN.features[kind] for kind in score.features})
        np.testing.assert_array_equal(score.ood_score(only), score.ood_score(TRAIN))
        assert bool(score.features) == (name in FEATURE_SCORES)

    def test_statistics_that_are_not_there(self):
        for name in LOGIT_SCORES:
            make(name)
        with pytest.raises(ModelError, match="no statistics for score 'knn'; train with --score knn"):
            make("knn")
        with pytest.raises(ConfigError, match="Did you mean 'energy'"):
            make("enrgy")


class TestStatistics:
    def test_a_stream_in_parts_gives_what_the_whole_gives(self):
        parts = [
            Outputs(LOGITS[rows], {kind: TRAIN.features[kind][rows] for kind in KINDS})
            for rows in (slice(0, 7), slice(7, 8), slice(8, 60))
        ]
        whole, streamed = known(), known(parts)
        np.testing.assert_array_equal(streamed.bank["cls"], whole.bank["cls"])
        np.testing.assert_allclose(streamed.moments["cls"].within, whole.moments["cls"].within, rtol=1e-5)

    def test_moments_against_numpy(self):
        moments, rows = known().moments["mean"], TRAIN.features["mean"].astype(np.float64)
        means = np.stack([rows[label == LABELS].mean(axis=0) for label in range(3)])
        np.testing.assert_allclose(moments.means, means, rtol=1e-6)
        np.testing.assert_allclose(moments.covariance_within, np.cov((rows - means[LABELS]).T, bias=True), atol=1e-7)
        np.testing.assert_allclose(moments.covariance, np.cov(rows.T, bias=True), atol=1e-7)

    def test_classes_share_the_bank(self):
        """Ten of class 0, two of class 1, one of class 2; a bank of five: 2 + 2 + 1."""
        labels = np.array([0] * 10 + [1] * 2 + [2])
        kept = labels[bank_rows(labels, 5, 0)]
        assert np.bincount(kept).tolist() == [2, 2, 1]

    def test_without_a_class_nothing_of_it_is_known(self):
        others = known().without(1, ["cls"])
        rows = TRAIN.features["cls"]
        np.testing.assert_allclose(others.moments["cls"].means[1], rows[LABELS == 2].mean(axis=0), rtol=1e-5)
        assert others.bank_logits.shape == (40, 2) and set(others.bank) == {"cls"}


@pytest.mark.parametrize("name", ["mahalanobis", "scaled-mahalanobis", "relative-mahalanobis"])
def test_a_class_without_documents_is_nowhere(name):
    """Its mean would be the origin, and a text at the origin the best known of all."""
    some = LABELS != 1
    part = Outputs(LOGITS[some], {kind: FEATURES[some].astype(np.float32) for kind in KINDS})
    with_gap = make(name, gather([part], LABELS[some], 3, KINDS, 1000, 0))
    without = make(name, gather([part], LABELS[some] // 2, 2, KINDS, 1000, 0))
    origin = Outputs(LOGITS[:1], {kind: np.zeros((1, 3), dtype=np.float32) for kind in KINDS})
    np.testing.assert_allclose(with_gap.ood_score(origin), without.ood_score(origin))
    assert with_gap.ood_score(origin) > np.median(with_gap.ood_score(part))
