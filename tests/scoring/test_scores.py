"""Every score: fitted, stored as arrays, rebuilt, and the same again."""

import numpy as np
import pytest
from scipy.special import expit

from masker.config import METHODS_WITH_RULE, Method, build_settings
from masker.errors import ModelError
from masker.modeling.scorer import Outputs
from masker.scoring.scores import METHOD_SCORES, SCORES, find_score

DRAW = np.random.default_rng(0)
LABELS = np.arange(60) % 3
LOGITS = (4.0 * np.eye(3)[LABELS] + DRAW.normal(size=(60, 3))).astype(np.float32)
FEATURES = np.eye(3)[LABELS] + 0.1 * DRAW.normal(size=(60, 3))
TRAIN = Outputs(LOGITS, FEATURES)
METHODS = sorted(METHOD_SCORES)


def fit(method: str, **baselines):
    settings = build_settings({"training": {"method": method}, "baselines": baselines})
    return METHOD_SCORES[method].fit(TRAIN, LABELS, settings), settings


def test_every_method_has_a_score():
    from typing import get_args

    assert set(METHOD_SCORES) == set(get_args(Method))
    assert set(METHOD_SCORES.values()) == set(SCORES.values())
    for method, score in METHOD_SCORES.items():
        assert (score.published_threshold is not None) == (method in METHODS_WITH_RULE)


@pytest.mark.parametrize("method", METHODS)
def test_rebuilt_from_its_arrays_it_says_the_same(method):
    score, settings = fit(method)
    arrays = score.statistics()
    assert bool(arrays) == score.learns
    again = find_score(score.name).from_statistics(arrays, settings)
    np.testing.assert_array_equal(again.ood_score(TRAIN), score.ood_score(TRAIN))


@pytest.mark.parametrize("method", METHODS)
def test_what_resembles_no_class_scores_higher(method):
    score, _ = fit(method)
    strange = Outputs(np.full((1, 3), -0.5, dtype=np.float32), np.full((1, 3), 5.0))
    assert score.ood_score(strange)[0] > np.median(score.ood_score(TRAIN))


@pytest.mark.parametrize("method", [name for name in METHODS if name != "ocsvm"])
def test_scores_of_logits_need_no_features(method):
    score, _ = fit(method)
    assert not score.reads_features
    np.testing.assert_array_equal(score.ood_score(Outputs(LOGITS)), score.ood_score(TRAIN))


def test_doc_rejects_where_all_classes_are_below_their_threshold():
    score, _ = fit("doc")
    below = (expit(LOGITS.astype(np.float64)) < score.statistics()["thresholds"]).all(axis=1)
    np.testing.assert_array_equal(score.ood_score(TRAIN) > score.published_threshold, below)


def test_large_corpora_leave_the_exact_solver():
    small, large, sgd = (
        fit("ocsvm", **options)[0].ood_score(TRAIN)
        for options in ({}, {"ocsvm_exact_limit": 59}, {"ocsvm_solver": "sgd"})
    )
    np.testing.assert_array_equal(large, sgd)
    assert not np.allclose(small, large)


def test_unknown_score_is_told_in_one_line():
    with pytest.raises(ModelError, match="'energy-2' that this masker does not know"):
        find_score("energy-2")
