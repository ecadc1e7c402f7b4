"""Groups of vectors: how many there are is found."""

from __future__ import annotations

import numpy as np
import pytest

from masker.discovery.grouping import (
    NOISE,
    Grouping,
    find_groups,
    nearest_neighbours,
    neighbour_counts,
    renumbered,
    shared_neighbours,
    spectrum,
)


def clouds(sizes, seed=0, width=16, noise=0.15):
    """Unit vectors around well separated directions, and their true groups, in random order."""
    draw = np.random.default_rng(seed)
    centres = np.linalg.qr(draw.standard_normal((width, width)))[0][: len(sizes)]
    truth = np.repeat(np.arange(len(sizes)), sizes)
    rows = centres[truth] + noise * draw.standard_normal((len(truth), width))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    order = draw.permutation(len(truth))
    return rows[order].astype(np.float32), truth[order]


def test_shared_neighbours_by_hand():
    """Texts 0, 1, 2 are each other's neighbours, 3 has 0 and 1.

    N_0 = {1, 2}, N_1 = {0, 2}: one shared of three, 1/3. N_3 = {0, 1} and N_0 share text 1: 1/3. N_2 = {0, 1} and
    N_3 are equal, but neither is a neighbour of the other: 0.
    """
    weights = shared_neighbours(np.array([[1, 2], [0, 2], [0, 1], [0, 1]])).toarray()
    third = 1 / 3
    expected = [[0, third, third, third], [third, 0, third, third], [third, third, 0, 0], [third, third, 0, 0]]
    np.testing.assert_allclose(weights, expected)


def test_the_eigenvalue_1_comes_once_for_each_part():
    block = np.ones((3, 3)) - np.eye(3)
    weights = np.kron(np.eye(2), block)
    from scipy.sparse import csr_array

    values, _ = spectrum(csr_array(weights), 3)
    np.testing.assert_allclose(values, [1, 1, -0.5], atol=1e-9)


def test_neighbours_are_the_nearest_and_never_the_text_itself():
    vectors = np.array([[1, 0], [0.99, 0.14], [0, 1], [0.14, 0.99]], dtype=np.float32)
    assert nearest_neighbours(vectors, 1).ravel().tolist() == [1, 0, 3, 2]


@pytest.mark.parametrize("sizes", [(60, 40), (50, 40, 30, 25), (30,) * 8])
def test_the_number_of_groups_is_found(sizes):
    vectors, truth = clouds(sizes)
    found = find_groups(vectors, most=50)
    assert len(found.centres) == len(sizes)
    assert np.bincount(found.labels[found.labels >= 0]).tolist() == sorted(
        np.bincount(found.labels[found.labels >= 0]).tolist(), reverse=True
    )
    for group in range(len(sizes)):
        assert len(set(truth[found.labels == group])) == 1


def test_more_texts_have_more_neighbours():
    assert neighbour_counts(8) == [4, 4, 4], "at most half of the texts"
    assert neighbour_counts(999) == [10, 15, 20]
    assert neighbour_counts(1500) == [30, 45, 60]
    assert neighbour_counts(100_000) == [40, 60, 80]


def test_at_most_so_many():
    vectors, _ = clouds((30,) * 8)
    assert 1 <= len(find_groups(vectors, most=4).centres) <= 4


def test_a_handful_is_one_group():
    vectors, _ = clouds((5,))
    found = find_groups(vectors, most=10)
    assert found.labels.tolist() == [0] * 5 and len(found.centres) == 1


def test_the_same_seed_gives_the_same_groups():
    vectors, _ = clouds((40, 30, 20), noise=0.3)
    assert find_groups(vectors, 20, seed=1).labels.tolist() == find_groups(vectors, 20, seed=1).labels.tolist()


def test_further_texts_go_to_the_nearest_group_in_reach():
    grouping = Grouping(np.array([0, 1]), np.array([[1, 0], [0, 1]], dtype=np.float32), np.array([0.9, 0.5]))
    further = np.array([[1, 0], [0.8, 0.6], [0.6, 0.8]], dtype=np.float32)
    assert grouping.assign(further).tolist() == [0, NOISE, 1]
    nothing = Grouping(np.empty(0, int), np.empty((0, 2), np.float32), np.empty(0))
    assert nothing.assign(further).tolist() == [NOISE] * 3


def test_groups_in_another_order():
    grouping = Grouping(np.array([0, 1, NOISE, 1]), np.array([[1, 0], [0, 1]], dtype=np.float32), np.array([0.9, 0.5]))
    turned = grouping.reordered(np.array([1, 0]))
    assert turned.labels.tolist() == [1, 0, NOISE, 0] and turned.centres.tolist() == [[0, 1], [1, 0]]
    assert turned.reaches.tolist() == [0.5, 0.9]
    assert renumbered(np.array([NOISE]), np.empty(0, dtype=np.int64)).tolist() == [NOISE]
