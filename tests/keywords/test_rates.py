"""Keyword rates by hand."""

from __future__ import annotations

import numpy as np

from masker.keywords.rates import keyword_rates


def test_rates_by_hand():
    """Text class A has 8 words, 2 of them token 0 and 1 token 1: 25 % and 12.5 %; class B is empty."""
    counts = np.array([[2, 1, 5], [0, 0, 0]])
    assert keyword_rates(counts, ["A", "B"], {"x": [0], "y": [0, 1], "z": []}) == {
        "x": {"A": 25.0, "B": 0.0},
        "y": {"A": 37.5, "B": 0.0},
        "z": {"A": 0.0, "B": 0.0},
    }
