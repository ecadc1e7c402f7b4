"""The cosine distance to the k-th nearest document, by hand, against scikit-learn and a loop."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import cosine
from sklearn.neighbors import NearestNeighbors

from masker.config import build_settings
from masker.detection.score import build_score
from masker.detection.scores import nearest_neighbour
from masker.detection.scores.nearest_neighbour import nearest_neighbour_score, unit_rows
from masker.detection.statistics import gather_statistics
from masker.inference.outputs import Outputs

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(60, 6)) @ DRAW.normal(size=(6, 6))
NEW = 3 * DRAW.normal(size=(20, 6))


def test_by_hand():
    """x = (2, 2) has cosine 1/sqrt(2) with both axes and -1 with (-1, -1)."""
    bank = unit_rows(np.array([[1.0, 0.0], [0.0, 3.0], [-1.0, -1.0]]))
    near = 1 - 1 / math.sqrt(2)
    for k, expected in ((1, near), (2, near), (3, 2.0), (9, 2.0)):
        assert nearest_neighbour_score(np.array([[2.0, 2.0]]), bank, k) == pytest.approx([expected], abs=1e-6)


@pytest.mark.parametrize("k", [1, 5, 60])
def test_against_scikit_learn(k):
    distances, _ = NearestNeighbors(n_neighbors=k, metric="cosine").fit(X).kneighbors(NEW)
    np.testing.assert_allclose(nearest_neighbour_score(NEW, unit_rows(X), k), distances[:, -1], atol=1e-6)


def test_against_a_loop():
    expected = [sorted(cosine(row, other) for other in X)[2] for row in NEW]
    np.testing.assert_allclose(nearest_neighbour_score(NEW, unit_rows(X), 3), expected, atol=1e-6)


def test_chunks_do_not_matter(monkeypatch):
    whole = nearest_neighbour_score(NEW, unit_rows(X), 2)
    monkeypatch.setattr(nearest_neighbour, "CHUNK", 3)
    np.testing.assert_array_equal(nearest_neighbour_score(NEW, unit_rows(X), 2), whole)


def test_a_document_without_content_is_as_far_as_a_right_angle():
    assert nearest_neighbour_score(np.zeros((1, 6)), unit_rows(X), 1) == pytest.approx([1.0])


def test_length_of_a_vector_does_not_matter_however_short():
    """(0.003, 0.004) has the direction (0.6, 0.8)."""
    assert unit_rows(np.array([[0.003, 0.004]]))[0] == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize(("name", "kind"), [("knn", "cls"), ("knn-middle", "middle")])
def test_by_its_name_from_the_features_of_its_layer(name, kind):
    labels, logits = np.arange(60) % 3, np.zeros((60, 3), dtype=np.float32)
    bank = {"cls": X.astype(np.float32), "middle": (X[:, ::-1] ** 3).astype(np.float32)}
    statistics = gather_statistics([Outputs(logits, bank)], labels, 3, ["cls", "middle"], 60, 0)
    score = build_score(name, statistics, build_settings({"detection": {"neighbours": 4}}))
    features = {"cls": np.ones((20, 6)), "middle": np.ones((20, 6)), kind: NEW}
    expected = nearest_neighbour_score(NEW, unit_rows(bank[kind]), 4)
    np.testing.assert_allclose(score.ood_score(Outputs(logits[:20], features)), expected, atol=1e-6)
