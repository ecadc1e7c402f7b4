"""Oracle approximating shrinkage, by hand and against scikit-learn."""

import numpy as np
import pytest
from sklearn.covariance import oas

from masker.detection.shrinkage import oas_covariance, whitening

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(60, 6)) @ DRAW.normal(size=(6, 6))


def test_by_hand():
    """S = diag(3, 1), n = 9: m = 2, mean of squares (9 + 1) / 4 = 2.5, so rho = 6.5 / (10 * (2.5 - 2)) > 1: 1.

    n = 99: rho = 6.5 / (100 * 0.5) = 0.13; the diagonal is 0.87 * (3, 1) + 0.13 * 2 = (2.87, 1.13).
    """
    covariance = np.diag([3.0, 1.0])
    np.testing.assert_allclose(oas_covariance(covariance, 9), 2 * np.eye(2))
    np.testing.assert_allclose(oas_covariance(covariance, 99), np.diag([2.87, 1.13]))


@pytest.mark.parametrize("count", [3, 10, 60])
def test_against_scikit_learn(count):
    rows = X[:count] - X[:count].mean(axis=0)
    expected, _ = oas(rows, assume_centered=True)
    np.testing.assert_allclose(oas_covariance(rows.T @ rows / count, count), expected)


def test_whitening_is_the_root_of_the_inverse():
    covariance = X.T @ X / 60
    factor = whitening(covariance)
    np.testing.assert_allclose(factor @ factor.T, np.linalg.inv(covariance), rtol=1e-6)


def test_constant_features_stay_finite():
    assert np.isfinite(whitening(np.zeros((3, 3)))).all()
    assert np.isfinite(whitening(np.diag([1.0, 0.0, 0.0]))).all()
