"""The entropy of the softmax, by hand and against scipy."""

import math

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import entropy

from masker.config import build_settings
from masker.detection.score import build_score
from masker.detection.scores.entropy import entropy_score
from masker.inference.outputs import Outputs

LOGITS = np.random.default_rng(0).normal(scale=4, size=(300, 5)).astype(np.float32)


def test_by_hand():
    """Equal logits of 4 classes: log 4. Softmax of (log 3, 0): (3/4, 1/4): 3/4 log 4/3 + 1/4 log 4."""
    assert entropy_score(np.zeros((1, 4))) == pytest.approx([math.log(4)])
    expected = 0.75 * math.log(4 / 3) + 0.25 * math.log(4)
    assert entropy_score(np.array([[math.log(3), 0.0]])) == pytest.approx([expected])


def test_against_scipy():
    np.testing.assert_allclose(entropy_score(LOGITS), entropy(softmax(LOGITS.astype(float), axis=1), axis=1), atol=1e-9)


def test_extreme_logits_stay_finite():
    assert np.isfinite(entropy_score(np.array([[1000.0, -1000.0], [-1000.0, -1000.0]]))).all()


def test_by_its_name():
    score = build_score("entropy", None, build_settings({}))
    np.testing.assert_array_equal(score.ood_score(Outputs(LOGITS)), entropy_score(LOGITS))
