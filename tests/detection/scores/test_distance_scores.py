"""Mahalanobis distances, nearest neighbours and ViM, by hand and against scikit-learn, scipy and loops."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import cosine, mahalanobis
from sklearn.covariance import oas
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from masker.detection.scores.energy import energy_score
from masker.detection.scores.mahalanobis import Gaussians, fit_gaussians, mahalanobis_score
from masker.detection.scores.nearest_neighbour import nearest_neighbour_score, unit_rows
from masker.detection.scores.relative_mahalanobis import fit_background, relative_mahalanobis_score
from masker.detection.scores.scaled_mahalanobis import class_spreads, own_sizes, scaled_mahalanobis_score
from masker.detection.shrinkage import oas_covariance, whitening
from masker.detection.vim import fit_virtual_logit, residual_norms, vim_score

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(60, 6)) @ DRAW.normal(size=(6, 6))
NEW = 3 * DRAW.normal(size=(20, 6))


def spreads_of(distances, labels, counts):
    return class_spreads(own_sizes(distances, labels, counts), labels, len(counts))


class TestShrinkage:
    def test_by_hand(self):
        """S = diag(3, 1), n = 9: m = 2, mean of squares (9 + 1) / 4 = 2.5, so rho = 6.5 / (10 * (2.5 - 2)) > 1: 1.

        n = 99: rho = 6.5 / (100 * 0.5) = 0.13; the diagonal is 0.87 * (3, 1) + 0.13 * 2 = (2.87, 1.13).
        """
        covariance = np.diag([3.0, 1.0])
        np.testing.assert_allclose(oas_covariance(covariance, 9), 2 * np.eye(2))
        np.testing.assert_allclose(oas_covariance(covariance, 99), np.diag([2.87, 1.13]))

    @pytest.mark.parametrize("count", [3, 10, 60])
    def test_against_scikit_learn(self, count):
        rows = X[:count] - X[:count].mean(axis=0)
        expected, _ = oas(rows, assume_centered=True)
        np.testing.assert_allclose(oas_covariance(rows.T @ rows / count, count), expected)

    def test_whitening_is_the_root_of_the_inverse(self):
        covariance = X.T @ X / 60
        factor = whitening(covariance)
        np.testing.assert_allclose(factor @ factor.T, np.linalg.inv(covariance), rtol=1e-6)

    def test_features_that_never_differ_stay_finite(self):
        assert np.isfinite(whitening(np.zeros((3, 3)))).all()
        assert np.isfinite(whitening(np.diag([1.0, 0.0, 0.0]))).all()


class TestMahalanobis:
    def test_by_hand(self):
        """Variances (4, 1), which so many documents leave as they are; means (0, 0) and (10, 0); x = (2, 1).

        To the first: 2²/4 + 1²/1 = 2. To the second: 8²/4 + 1 = 17. Score 2.
        """
        classes = fit_gaussians(np.array([[0.0, 0.0], [10.0, 0.0]]), np.diag([4.0, 1.0]), 10**9)
        assert mahalanobis_score(np.array([[2.0, 1.0]]), classes) == pytest.approx([2.0], rel=1e-6)
        np.testing.assert_allclose(classes.distances(np.array([[2.0, 1.0]])), [[2.0, 17.0]], rtol=1e-6)

    def test_against_scipy(self):
        means, covariance = X[:3], X.T @ X / 60
        inverse = np.linalg.inv(oas_covariance(covariance, 60))
        expected = [min(mahalanobis(row, mean, inverse) ** 2 for mean in means) for row in NEW]
        np.testing.assert_allclose(mahalanobis_score(NEW, fit_gaussians(means, covariance, 60)), expected)

    def test_scaled_by_hand(self):
        """Two documents a class, 2 and 1 away from their means, so 4 and 2 away from each other (squared 16 and 4).

        The median of all is 8; with two documents against ten, log r moves a sixth of the way to the class's own:
        r = 8 · 2^(1/6) and 8 · 2^(-1/6). A document at squared distances 16 and 8 has 2 · 2^(-1/6) and 2^(1/6).
        """
        distances = np.array([[4.0, 100.0], [4.0, 100.0], [100.0, 1.0], [100.0, 1.0]])
        spreads = spreads_of(distances, np.array([0, 0, 1, 1]), np.array([2.0, 2.0]))
        np.testing.assert_allclose(spreads, [8 * 2 ** (1 / 6), 8 * 2 ** (-1 / 6)])
        classes = Gaussians(np.eye(2), np.array([[4.0, 0.0], [0.0, np.sqrt(8.0)]]))
        assert scaled_mahalanobis_score(np.zeros((1, 2)), classes, spreads) == pytest.approx([2 ** (1 / 6)])
        halved = scaled_mahalanobis_score(np.zeros((1, 2)), classes, spreads, np.array([2.0]))
        assert halved == pytest.approx([2 ** (1 / 6) / 2])

    def test_scaled_against_means_without_the_document(self):
        labels = np.arange(60) % 3
        classes = Gaussians(np.eye(X.shape[1]), np.array([X[labels == label].mean(axis=0) for label in range(3)]))
        own = []
        for row, label in enumerate(labels):
            others = X[(labels == label) & (np.arange(60) != row)]
            own.append(np.log(np.sum((X[row] - others.mean(axis=0)) ** 2)))
        own = np.array(own)
        expected = [(20 * np.median(own[labels == label]) + 10 * np.median(own)) / 30 for label in range(3)]
        spreads = spreads_of(classes.distances(X[:60]), labels, np.array([20.0, 20.0, 20.0]))
        np.testing.assert_allclose(np.log(spreads), expected)

    def test_a_class_of_one_document_has_the_spread_of_all(self):
        distances = np.array([[0.0, 9.0], [9.0, 2.0], [9.0, 2.0]])
        spreads = spreads_of(distances, np.array([0, 1, 1]), np.array([1.0, 2.0]))
        np.testing.assert_allclose(spreads, [8.0, 8.0])
        np.testing.assert_array_equal(spreads_of(np.zeros((2, 2)), np.array([0, 1]), np.ones(2)), [1.0, 1.0])

    def test_relative_by_hand(self):
        """As above, less the distance to all documents: mean (5, 0), variances (4 + 25, 1): 3²/29 + 1 = 38/29."""
        classes = fit_gaussians(np.array([[0.0, 0.0], [10.0, 0.0]]), np.diag([4.0, 1.0]), 10**9)
        everything = fit_background(np.array([5.0, 0.0]), np.diag([4.0, 1.0]), np.diag([25.0, 0.0]), 10**9)
        scores = relative_mahalanobis_score(np.array([[2.0, 1.0]]), classes, everything)
        assert scores == pytest.approx([2 - 38 / 29], rel=1e-6)

    def test_relative_against_scipy(self):
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

    def test_the_farther_the_higher_where_documents_hardly_differ(self):
        """The last axis has a millionth of the others' variance; what leaves along it scores higher and higher."""
        within, between = np.diag([1.0, 1.0, 1e-6]), np.diag([4.0, 0.0, 0.0])
        classes = fit_gaussians(np.array([[2.0, 0.0, 0.0], [-2.0, 0.0, 0.0]]), within, 500)
        background = fit_background(np.zeros(3), within, between, 500)
        scores = relative_mahalanobis_score(np.array([[0.0, 0.0, far] for far in (0, 1, 9)]), classes, background)
        assert (np.diff(scores) >= -1e-6).all() and scores[0] > 0


class TestNearestNeighbour:
    def test_by_hand(self):
        """x = (2, 2) has cosine 1/sqrt(2) with both axes and -1 with (-1, -1)."""
        bank = unit_rows(np.array([[1.0, 0.0], [0.0, 3.0], [-1.0, -1.0]]))
        near = 1 - 1 / math.sqrt(2)
        for k, expected in ((1, near), (2, near), (3, 2.0), (9, 2.0)):
            assert nearest_neighbour_score(np.array([[2.0, 2.0]]), bank, k) == pytest.approx([expected], abs=1e-6)

    @pytest.mark.parametrize("k", [1, 5, 60])
    def test_against_scikit_learn(self, k):
        distances, _ = NearestNeighbors(n_neighbors=k, metric="cosine").fit(X).kneighbors(NEW)
        np.testing.assert_allclose(nearest_neighbour_score(NEW, unit_rows(X), k), distances[:, -1], atol=1e-6)

    def test_against_a_loop(self):
        expected = [sorted(cosine(row, other) for other in X)[2] for row in NEW]
        np.testing.assert_allclose(nearest_neighbour_score(NEW, unit_rows(X), 3), expected, atol=1e-6)

    def test_chunks_do_not_matter(self, monkeypatch):
        from masker.detection.scores import nearest_neighbour

        whole = nearest_neighbour_score(NEW, unit_rows(X), 2)
        monkeypatch.setattr(nearest_neighbour, "CHUNK", 3)
        np.testing.assert_array_equal(nearest_neighbour_score(NEW, unit_rows(X), 2), whole)

    def test_a_document_without_content_is_as_far_as_a_right_angle(self):
        assert nearest_neighbour_score(np.zeros((1, 6)), unit_rows(X), 1) == pytest.approx([1.0])


class TestVirtualLogit:
    def test_by_hand(self):
        """Variances (9, 4, 1), D = 2: only the third axis is left over. Sample |z| = 2, 1, 1 outside, logits 3, 5, 4:

        alpha = 12 / 4 = 3. x = (7, 7, -2) with logits (0, 0): 3 * 2 - log 2 for the softmax, 6 - 2 log 2 for sigmoids.
        """
        sample = np.array([[5.0, 0.0, 2.0], [0.0, 1.0, -1.0], [0.0, 0.0, 1.0]])
        logits = np.array([[3.0, 0.0], [1.0, 5.0], [4.0, -9.0]])
        known = fit_virtual_logit(np.zeros(3), np.diag([9.0, 4.0, 1.0]), sample, logits, 2)
        assert known.scale == pytest.approx(3.0)
        x = np.array([[7.0, 7.0, -2.0]])
        assert vim_score(x, np.zeros((1, 2)), known, "multi-class") == pytest.approx([6 - math.log(2)])
        assert vim_score(x, np.zeros((1, 2)), known, "one-vs-rest") == pytest.approx([6 - 2 * math.log(2)])

    def test_against_principal_components(self):
        """The residual is what scikit-learn's PCA cannot rebuild."""
        components = PCA(3).fit(X)
        rebuilt = components.inverse_transform(components.transform(NEW))
        known = fit_virtual_logit(X.mean(axis=0), np.cov(X.T), X, np.ones((60, 2)))
        np.testing.assert_allclose(
            residual_norms(NEW, known.origin, known.residual), np.linalg.norm(NEW - rebuilt, axis=1)
        )
        logits = DRAW.normal(size=(20, 2))
        expected = known.scale * np.linalg.norm(NEW - rebuilt, axis=1) + energy_score(logits, "multi-class")
        np.testing.assert_allclose(vim_score(NEW, logits, known, "multi-class"), expected)
