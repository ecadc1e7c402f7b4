"""Draws belong to a document and an epoch, whatever the batch."""

import numpy as np
import pytest

from masker.masking.draws import document_draws

ROWS = np.array([3, 11, 0, 7])


def test_shape_and_range():
    draws = document_draws(0, 0, ROWS, 50, streams=3)
    assert draws.shape == (3, 4, 50)
    assert ((draws >= 0) & (draws < 1)).all()


def test_each_view_has_a_stream_of_its_own_from_the_start_of_its_counter():
    """A later version has to draw the same masks: a resumed run goes on with them."""
    draws = document_draws(5, 2, ROWS, 9)
    assert draws.shape == (2, 4, 9)
    expected = np.random.Generator(np.random.Philox(key=5, counter=[0, 1, 2, 11])).random(9)
    np.testing.assert_array_equal(draws[1, 1], expected)


def test_same_seed_epoch_and_row_give_the_same_draws():
    np.testing.assert_array_equal(document_draws(5, 2, ROWS, 9), document_draws(5, 2, ROWS, 9))


def test_draws_do_not_depend_on_the_batch():
    together = document_draws(5, 2, ROWS, 9)
    for place, row in enumerate(ROWS):
        np.testing.assert_array_equal(document_draws(5, 2, np.array([row]), 9)[:, 0], together[:, place])
    np.testing.assert_array_equal(document_draws(5, 2, ROWS[::-1], 9), together[:, ::-1])


@pytest.mark.parametrize("width", [1, 3, 4, 5, 31])
def test_wider_batch_extends_the_draws(width):
    np.testing.assert_array_equal(document_draws(5, 2, ROWS, width), document_draws(5, 2, ROWS, 32)[..., :width])


def test_seed_epoch_row_and_stream_each_change_the_draws():
    base = document_draws(5, 2, np.array([3]), 20)
    others = [
        document_draws(6, 2, np.array([3]), 20),
        document_draws(5, 3, np.array([3]), 20),
        document_draws(5, 2, np.array([4]), 20),
        base[::-1],
    ]
    for other in others:
        assert not np.intersect1d(base[0], other[0]).size


def test_epoch_and_row_are_not_mixed_up():
    one, two = document_draws(0, 1, np.array([2]), 20), document_draws(0, 2, np.array([1]), 20)
    assert not np.intersect1d(one, two).size


def test_long_documents_do_not_overlap_their_neighbours():
    """Neighbouring (epoch, row, stream) counters must not overlap however many draws one of them takes."""
    draws = document_draws(0, 0, np.arange(3), 4000)
    assert len(np.unique(draws)) == draws.size


def test_draws_are_uniform_and_streams_independent():
    """60,000 draws: mean 0.5 with standard error 0.29 / 245 = 0.0012; correlation of the streams about 0.004."""
    draws = document_draws(0, 0, np.arange(300), 200)
    assert draws.mean() == pytest.approx(0.5, abs=0.006)
    assert np.histogram(draws, bins=10, range=(0, 1))[0] / draws.size == pytest.approx([0.1] * 10, abs=0.006)
    assert np.corrcoef(draws[0].ravel(), draws[1].ravel())[0, 1] == pytest.approx(0.0, abs=0.02)


def test_global_generator_is_left_alone():
    before = np.random.get_state()[1].copy()
    document_draws(0, 0, ROWS, 9)
    np.testing.assert_array_equal(np.random.get_state()[1], before)
