"""Folds: even, seeded, and with all classes in each of them."""

import numpy as np
import pytest

from masker.documents.folds import stratified_folds

LABELS = ["a"] * 13 + ["b"] * 7 + ["c"] * 5 + ["d"] * 2


def test_folds_and_classes_are_even():
    folds = stratified_folds(LABELS, 5, 0)
    assert sorted(np.bincount(folds)) == [5, 5, 5, 6, 6]
    for label in "abcd":
        counts = np.bincount([fold for fold, name in zip(folds, LABELS, strict=True) if name == label], minlength=5)
        assert counts.max() - counts.min() <= 1, label


def test_small_classes_do_not_all_fill_the_first_folds():
    """Ten classes of one document each: two in each of five folds."""
    assert np.bincount(stratified_folds(list("abcdefghij"), 5, 0)).tolist() == [2] * 5


def test_same_seed_same_folds():
    one, same, other = (stratified_folds(LABELS, 5, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


@pytest.mark.parametrize("labels", [[1, 0, 1, 0], [1.0, 0.0, 1.0, 0.0], [True, False, True, False]])
def test_labels_of_any_type(labels):
    folds = stratified_folds(labels, 2, 3)
    assert folds[0] != folds[2] and folds[1] != folds[3]
