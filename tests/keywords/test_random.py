"""Random keywords: drawn from the corpus by frequency, determined by the seed."""

import numpy as np
import pytest

from masker.keywords.choice import top_tokens
from masker.keywords.random import random_scores

COUNTS = np.array([0, 5, 1, 0, 3, 2, 9, 0])


def test_absent_tokens_are_never_drawn():
    for seed in range(20):
        scores = random_scores(COUNTS, seed)
        assert np.isneginf(scores[[0, 3, 7]]).all()
        assert sorted(top_tokens(scores, 5)) == [1, 2, 4, 5, 6]


def test_k_different_tokens_are_drawn():
    for seed in range(20):
        drawn = top_tokens(random_scores(COUNTS, seed), 3)
        assert len(set(drawn)) == 3
        assert set(drawn) <= {1, 2, 4, 5, 6}


def test_draw_is_a_function_of_the_seed():
    np.testing.assert_array_equal(random_scores(COUNTS, 3), random_scores(COUNTS, 3))
    assert len({tuple(top_tokens(random_scores(COUNTS, seed), 3)) for seed in range(20)}) > 5


def test_counts_of_classes_are_added_up():
    by_class = np.array([[1, 0, 4], [2, 0, 0]])
    np.testing.assert_array_equal(random_scores(by_class, 1), random_scores(np.array([3, 0, 4]), 1))


def test_first_draw_follows_the_frequencies():
    """n = (6, 3, 1): the first token drawn is 0, 1, 2 with probability 0.6, 0.3, 0.1.

    Over 3000 seeds the standard error of a share is at most sqrt(0.24 / 3000) = 0.009; 0.04 is more than 4 of them.
    """
    counts = np.array([6, 3, 1])
    first = [int(random_scores(counts, seed).argmax()) for seed in range(3000)]
    assert np.bincount(first, minlength=3) / 3000 == pytest.approx([0.6, 0.3, 0.1], abs=0.04)


def test_second_draw_is_without_replacement():
    """n = (6, 3, 1), first draw 0: then the odds of 1 and 2 are 3 to 1.

    P(0 then 1) = 0.6 * 3/4 = 0.45, P(0 then 2) = 0.6 * 1/4 = 0.15.
    """
    counts = np.array([6, 3, 1])
    pairs = [tuple(top_tokens(random_scores(counts, seed), 2)) for seed in range(3000)]
    assert pairs.count((0, 1)) / 3000 == pytest.approx(0.45, abs=0.04)
    assert pairs.count((0, 2)) / 3000 == pytest.approx(0.15, abs=0.04)
