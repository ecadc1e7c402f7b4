"""The energy of both heads, by hand and against torch."""

import math

import numpy as np
import pytest
import torch

from masker.config import build_settings
from masker.detection.score import build_score
from masker.detection.scores.energy import energy_score
from masker.inference.outputs import Outputs

LOGITS = np.random.default_rng(0).normal(scale=4, size=(300, 5)).astype(np.float32)


def test_by_hand():
    """Softmax: -log(e^0 + e^0) = -log 2. Sigmoids of (log 3, 0): -(log 4 + log 2) = -log 8."""
    assert energy_score(np.zeros((1, 2)), "multi-class") == pytest.approx([-math.log(2)])
    assert energy_score(np.array([[math.log(3), 0.0]]), "one-vs-rest") == pytest.approx([-math.log(8)])


def test_against_torch():
    logits = torch.from_numpy(LOGITS).double()
    np.testing.assert_allclose(energy_score(LOGITS, "multi-class"), -logits.logsumexp(dim=1).numpy())
    joint = -torch.nn.functional.softplus(logits).sum(dim=1).numpy()
    np.testing.assert_allclose(energy_score(LOGITS, "one-vs-rest"), joint, rtol=1e-7)


def test_a_head_that_rejects_all_classes_scores_just_below_zero_the_maximum():
    scores = energy_score(np.array([[-20.0, -20.0], [5.0, -20.0]]), "one-vs-rest")
    assert -1e-6 < scores[0] < 0 and scores[1] < -5


@pytest.mark.parametrize("head", ["multi-class", "one-vs-rest"])
def test_extreme_logits_stay_finite(head):
    assert np.isfinite(energy_score(np.array([[1000.0, -1000.0], [-1000.0, -1000.0]]), head)).all()


@pytest.mark.parametrize("head", ["multi-class", "one-vs-rest"])
def test_by_its_name_with_the_head_of_the_model(head):
    score = build_score("energy", None, build_settings({"model": {"head": head}}))
    np.testing.assert_array_equal(score.ood_score(Outputs(LOGITS)), energy_score(LOGITS, head))
