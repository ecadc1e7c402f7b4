"""DOC's thresholds and score, by hand."""

import math

import numpy as np
import pytest
from scipy.special import expit, logit

from masker.config import build_settings
from masker.detection.scores.doc import DocScore, doc_score, gaussian_thresholds
from masker.inference.outputs import Outputs
from masker.registry import SCORES

# Class 0: probabilities 0.8 and 0.6 of its own documents; class 1: 1.0 and 0.98.
PROBABILITIES = np.array([[0.8, 0.3], [0.6, 0.1], [0.4, 1.0], [0.0, 0.98]])
LABELS = np.array([0, 0, 1, 1])


def test_thresholds_by_hand():
    """σ_0 = sqrt((0.04 + 0.16) / 2) = sqrt(0.1), σ_1 = sqrt((0 + 0.0004) / 2) = 0.01 sqrt 2.

    α = 1: 1 − 0.3162 = 0.6838. α = 3: 1 − 0.9487 is below 0.5, so 0.5; 1 − 0.03 sqrt 2 = 0.9576.
    """
    assert gaussian_thresholds(PROBABILITIES, LABELS, 1.0)[0] == pytest.approx(1 - math.sqrt(0.1))
    assert gaussian_thresholds(PROBABILITIES, LABELS, 3.0) == pytest.approx([0.5, 1 - 0.03 * math.sqrt(2)])


def test_sigma_is_that_of_the_mirrored_points():
    own = np.random.default_rng(0).uniform(0.7, 1.0, size=(50, 1))
    mirrored = np.concatenate([own, 2.0 - own])
    expected = 1.0 - 1.5 * mirrored.std()
    assert gaussian_thresholds(own, np.zeros(50, dtype=np.int64), 1.5) == pytest.approx([expected])


def test_score_by_hand():
    """Thresholds (0.5, 0.9). (0.6, 0.2): class 0 passes by 0.1. (0.4, 0.85): short by 0.1 and 0.05, so 0.05."""
    scores = doc_score(np.array([[0.6, 0.2], [0.4, 0.85]]), np.array([0.5, 0.9]))
    assert scores == pytest.approx([-0.1, 0.05])


def test_score_is_positive_exactly_where_all_classes_are_below():
    draw = np.random.default_rng(0)
    probabilities, thresholds = draw.uniform(size=(500, 4)), np.array([0.5, 0.7, 0.9, 0.99])
    rejected = (probabilities < thresholds).all(axis=1)
    assert 0 < rejected.sum() < 500
    np.testing.assert_array_equal(doc_score(probabilities, thresholds) > 0, rejected)


def test_the_published_threshold_rejects_what_doc_rejects():
    draw = np.random.default_rng(0)
    labels = np.arange(60) % 3
    outputs = Outputs((4.0 * np.eye(3)[labels] + draw.normal(size=(60, 3))).astype(np.float32))
    score = DocScore.fit(outputs, labels, build_settings({"training": {"method": "doc"}}))
    below = (expit(outputs.logits.astype(np.float64)) < score.state()["thresholds"]).all(axis=1)
    assert below.any()
    np.testing.assert_array_equal(score.ood_score(outputs) > score.published_threshold, below)


def test_alpha_comes_from_the_settings():
    """The probabilities above, with α = 1: t_0 = 1 − sqrt(0.1)."""
    settings = build_settings({"training": {"method": "doc"}, "baselines": {"doc_alpha": 1.0}})
    outputs = Outputs(logit(np.clip(PROBABILITIES, 1e-12, 1 - 1e-12)))
    thresholds = DocScore.fit(outputs, LABELS, settings).state()["thresholds"]
    assert thresholds[0] == pytest.approx(1 - math.sqrt(0.1))


def test_classes_of_one_document_and_of_none():
    """Class 0 has one document with 0.8: σ = 0.2, t = 0.8. Class 1 has none: nothing says that it varies, t = 1."""
    with np.errstate(all="raise"):
        thresholds = gaussian_thresholds(np.array([[0.8, 0.3]]), np.array([0]), 1.0)
    assert thresholds == pytest.approx([0.8, 1.0])


def test_found_by_its_name_for_its_method_and_rebuilt_from_its_arrays():
    assert SCORES.get("doc") is DocScore and DocScore.method_only
    again = DocScore.from_state({"thresholds": np.array([0.5, 0.9])}, build_settings({"training": {"method": "doc"}}))
    assert again.ood_score(Outputs(logit(np.array([[0.6, 0.2]])))) == pytest.approx([-0.1])
