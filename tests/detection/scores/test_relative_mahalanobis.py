"""The relative Mahalanobis distance, by hand and against scipy."""

import numpy as np
import pytest
from scipy.spatial.distance import mahalanobis

from masker.detection.scores.mahalanobis import fit_gaussians
from masker.detection.scores.relative_mahalanobis import fit_background, relative_mahalanobis_score
from masker.detection.shrinkage import oas_covariance

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
