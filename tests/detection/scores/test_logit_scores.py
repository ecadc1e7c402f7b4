"""Scores of logits alone, by hand and against other formulas."""

import math

import numpy as np
import pytest
import torch
from scipy.special import softmax
from scipy.stats import entropy

from masker.detection.scores.energy import energy_score
from masker.detection.scores.entropy import entropy_score
from masker.detection.scores.max_logit import max_logit_score

LOGITS = np.random.default_rng(0).normal(scale=4, size=(300, 5)).astype(np.float32)
EXTREME = np.array([[1000.0, -1000.0], [-1000.0, -1000.0]])


def test_max_logit_by_hand():
    """Highest of (1, -2) is 1 and of (-3, -5) is -3: scores -1 and 3."""
    assert max_logit_score(np.array([[1.0, -2.0], [-3.0, -5.0]])).tolist() == [-1.0, 3.0]


def test_max_logit_against_torch():
    np.testing.assert_allclose(max_logit_score(LOGITS), -torch.from_numpy(LOGITS).amax(dim=1).numpy())


def test_energy_by_hand():
    """Softmax: -log(e^0 + e^0) = -log 2. Sigmoids of (log 3, 0): -(log 4 + log 2) = -log 8."""
    assert energy_score(np.zeros((1, 2)), "multi-class") == pytest.approx([-math.log(2)])
    assert energy_score(np.array([[math.log(3), 0.0]]), "one-vs-rest") == pytest.approx([-math.log(8)])


def test_energy_against_torch():
    logits = torch.from_numpy(LOGITS).double()
    np.testing.assert_allclose(energy_score(LOGITS, "multi-class"), -logits.logsumexp(dim=1).numpy())
    joint = -torch.nn.functional.softplus(logits).sum(dim=1).numpy()
    np.testing.assert_allclose(energy_score(LOGITS, "one-vs-rest"), joint, rtol=1e-7)


def test_energy_of_a_head_that_rejects_all_classes_is_near_zero_its_highest():
    scores = energy_score(np.array([[-20.0, -20.0], [5.0, -20.0]]), "one-vs-rest")
    assert -1e-6 < scores[0] < 0 and scores[1] < -5


def test_entropy_by_hand():
    """Equal logits of 4 classes: log 4. Softmax of (log 3, 0): (3/4, 1/4): 3/4 log 4/3 + 1/4 log 4."""
    assert entropy_score(np.zeros((1, 4))) == pytest.approx([math.log(4)])
    expected = 0.75 * math.log(4 / 3) + 0.25 * math.log(4)
    assert entropy_score(np.array([[math.log(3), 0.0]])) == pytest.approx([expected])


def test_entropy_against_scipy():
    np.testing.assert_allclose(entropy_score(LOGITS), entropy(softmax(LOGITS.astype(float), axis=1), axis=1), atol=1e-9)


@pytest.mark.parametrize(
    "score",
    [
        max_logit_score,
        entropy_score,
        lambda logits: energy_score(logits, "multi-class"),
        lambda logits: energy_score(logits, "one-vs-rest"),
    ],
)
def test_extreme_logits_stay_finite(score):
    assert np.isfinite(score(EXTREME)).all()
