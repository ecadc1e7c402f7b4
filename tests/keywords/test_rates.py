"""Keyword rates by hand."""

from __future__ import annotations

import numpy as np
import pytest

from masker.keywords.rates import keyword_rates


def test_rates_by_hand():
    """Text class A has 8 words, 2 of them token 0 and 1 token 1: 25 % and 12.5 %; class B is empty."""
    counts = np.array([[2, 1, 5], [0, 0, 0]])
    assert keyword_rates(counts, ["A", "B"], {"x": [0], "y": [0, 1], "z": []}) == {
        "x": {"A": 25.0, "B": 0.0},
        "y": {"A": 37.5, "B": 0.0},
        "z": {"A": 0.0, "B": 0.0},
    }


def test_four_digits_and_a_class_of_one_word():
    """1 of 7 is 14.28571… %; the one word of class B is all of it."""
    assert keyword_rates(np.array([[1, 6], [1, 0]]), ["A", "B"], {"x": [0]}) == {"x": {"A": 14.2857, "B": 100.0}}


def test_classes_without_counts_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        keyword_rates(np.array([[1, 6]]), ["A", "B"], {"x": [0]})
