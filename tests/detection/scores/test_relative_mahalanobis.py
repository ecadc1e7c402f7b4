"""The relative Mahalanobis distance, by hand and against scipy."""

import numpy as np
import pytest
from scipy.spatial.distance import mahalanobis

from masker.config import build_settings
from masker.detection.score import build_score
from masker.detection.scores.mahalanobis import fit_gaussians
from masker.detection.scores.relative_mahalanobis import fit_background, relative_mahalanobis_score
from masker.detection.shrinkage import oas_covariance
from masker.detection.statistics import gather_statistics
from masker.inference.outputs import Outputs

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(60, 6)) @ DRAW.normal(size=(6, 6))
NEW = 3 * DRAW.normal(size=(20, 6))


def test_by_hand():
    """Variances (4, 1), means (0, 0) and (10, 0), x = (2, 1): 2²/4 + 1 = 2 to the nearest class.

    All documents: mean (5, 0), variances (4 + 25, 1): 3²/29 + 1 = 38/29. Score 2 - 38/29.
    """
    classes = fit_gaussians(np.array([[0.0, 0.0], [10.0, 0.0]]), np.diag([4.0, 1.0]), 10**9)
    everything = fit_background(np.array([5.0, 0.0]), np.diag([4.0, 1.0]), np.diag([25.0, 0.0]), 10**9)
    scores = relative_mahalanobis_score(np.array([[2.0, 1.0]]), classes, everything)
    assert scores == pytest.approx([2 - 38 / 29], rel=1e-6)


def test_against_scipy():
    covariance, between = X.T @ X / 60, np.cov(X[:3].T, bias=True)
    shrunk = oas_covariance(covariance, 60)
    inside, outside = np.linalg.inv(shrunk), np.linalg.inv(shrunk + between)
    expected = [
        min(mahalanobis(row, mean, inside) ** 2 for mean in X[:3]) - mahalanobis(row, X.mean(axis=0), outside) ** 2
        for row in NEW
    ]
    background = fit_background(X.mean(axis=0), covariance, between, 60)
    scores = relative_mahalanobis_score(NEW, fit_gaussians(X[:3], covariance, 60), background)
    np.testing.assert_allclose(scores, expected)


def test_the_farther_the_higher_where_documents_hardly_differ():
    """The last axis has a millionth of the others' variance; what leaves along it scores higher and higher."""
    within, between = np.diag([1.0, 1.0, 1e-6]), np.diag([4.0, 0.0, 0.0])
    classes = fit_gaussians(np.array([[2.0, 0.0, 0.0], [-2.0, 0.0, 0.0]]), within, 500)
    background = fit_background(np.zeros(3), within, between, 500)
    scores = relative_mahalanobis_score(np.array([[0.0, 0.0, far] for far in (0, 1, 9)]), classes, background)
    assert (np.diff(scores) >= -1e-6).all() and scores[0] > 0


@pytest.mark.parametrize(("name", "kind"), [("relative-mahalanobis", "cls"), ("relative-mahalanobis-middle", "middle")])
def test_by_its_name_from_the_features_of_its_layer(name, kind):
    labels, logits = np.arange(60) % 3, np.zeros((60, 3), dtype=np.float32)
    train = Outputs(logits, {"cls": X + labels[:, None], "middle": (X + labels[:, None])[:, ::-1] ** 3})
    statistics = gather_statistics([train], labels, 3, ["cls", "middle"], 60, 0)
    moments = statistics.moments[kind]
    within, apart = moments.covariance_within, moments.means - moments.means.mean(axis=0)
    classes = fit_gaussians(moments.means, within, 60)
    background = fit_background(moments.means.mean(axis=0), within, apart.T @ apart / 3, 60)
    features = {"cls": np.zeros((20, 6)), "middle": np.zeros((20, 6)), kind: NEW}
    found = build_score(name, statistics, build_settings({})).ood_score(Outputs(logits[:20], features))
    np.testing.assert_allclose(found, relative_mahalanobis_score(NEW, classes, background), rtol=1e-6)
