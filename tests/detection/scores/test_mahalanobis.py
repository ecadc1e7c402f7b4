"""The Mahalanobis distance to the nearest class, by hand and against scipy."""

import numpy as np
import pytest
from scipy.spatial.distance import mahalanobis

from masker.config import build_settings
from masker.detection.score import build_score
from masker.detection.scores.mahalanobis import fit_gaussians, mahalanobis_score
from masker.detection.shrinkage import oas_covariance
from masker.detection.statistics import gather_statistics
from masker.inference.outputs import Outputs

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(60, 6)) @ DRAW.normal(size=(6, 6))
NEW = 3 * DRAW.normal(size=(20, 6))


def test_by_hand():
    """Variances (4, 1), with so many documents that nothing is shrunk; means (0, 0) and (10, 0); x = (2, 1).

    To the first: 2²/4 + 1²/1 = 2. To the second: 8²/4 + 1 = 17. Score 2.
    """
    classes = fit_gaussians(np.array([[0.0, 0.0], [10.0, 0.0]]), np.diag([4.0, 1.0]), 10**9)
    assert mahalanobis_score(np.array([[2.0, 1.0]]), classes) == pytest.approx([2.0], rel=1e-6)
    np.testing.assert_allclose(classes.distances(np.array([[2.0, 1.0]])), [[2.0, 17.0]], rtol=1e-6)


def test_against_scipy():
    means, covariance = X[:3], X.T @ X / 60
    inverse = np.linalg.inv(oas_covariance(covariance, 60))
    expected = [min(mahalanobis(row, mean, inverse) ** 2 for mean in means) for row in NEW]
    np.testing.assert_allclose(mahalanobis_score(NEW, fit_gaussians(means, covariance, 60)), expected)


@pytest.mark.parametrize(("name", "kind"), [("mahalanobis", "cls"), ("mahalanobis-middle", "middle")])
def test_by_its_name_from_the_features_of_its_layer(name, kind):
    labels, logits = np.arange(60) % 3, np.zeros((60, 3), dtype=np.float32)
    train = Outputs(logits, {"cls": X, "middle": X[:, ::-1] ** 3})
    statistics = gather_statistics([train], labels, 3, ["cls", "middle"], 60, 0)
    moments = statistics.moments[kind]
    expected = mahalanobis_score(NEW, fit_gaussians(moments.known_means, moments.covariance_within, 60))
    score = build_score(name, statistics, build_settings({}))
    features = {"cls": np.zeros((20, 6)), "middle": np.zeros((20, 6)), kind: NEW}
    np.testing.assert_allclose(score.ood_score(Outputs(logits[:20], features)), expected)
