"""The highest logit, by hand and against torch."""

import numpy as np
import torch

from masker.detection.scores.max_logit import HighestLogitScore, MaxLogitScore, max_logit_score
from masker.inference.outputs import Outputs
from masker.registry import SCORES

LOGITS = np.random.default_rng(0).normal(scale=4, size=(300, 5)).astype(np.float32)


def test_by_hand():
    """Highest of (1, -2) is 1 and of (-3, -5) is -3: scores -1 and 3."""
    assert max_logit_score(np.array([[1.0, -2.0], [-3.0, -5.0]])).tolist() == [-1.0, 3.0]


def test_against_torch():
    np.testing.assert_allclose(max_logit_score(LOGITS), -torch.from_numpy(LOGITS).amax(dim=1).numpy())


def test_extreme_logits_stay_finite():
    assert np.isfinite(max_logit_score(np.array([[1000.0, -1000.0], [-1000.0, -1000.0]]))).all()


def test_one_equation_has_two_names():
    outputs = Outputs(LOGITS)
    np.testing.assert_array_equal(HighestLogitScore().ood_score(outputs), MaxLogitScore().ood_score(outputs))
    assert (MaxLogitScore.name, HighestLogitScore.name) == ("max-logit", "highest-logit")


def test_names_and_who_may_use_them():
    assert SCORES.get("max-logit") is MaxLogitScore and not MaxLogitScore.method_only
    assert SCORES.get("highest-logit") is HighestLogitScore and HighestLogitScore.method_only
