"""Where texts are compared."""

from __future__ import annotations

import numpy as np

from masker.discovery.text_space import TextSpace


def test_each_kind_counts_alike_whatever_its_size():
    """(3, 4) − (0, 0) has length 5, (1, 11) − (1, 1) length 10: directions (0.6, 0.8) and (0, 1), each over √2."""
    space = TextSpace({"cls": np.zeros(2), "middle": np.ones(2)})
    joined = space.join({"cls": np.array([[3.0, 4.0]]), "middle": np.array([[1.0, 11.0]])})
    np.testing.assert_allclose(joined, np.array([[0.6, 0.8, 0, 1]]) / np.sqrt(2), rtol=1e-6)
    assert np.isclose(np.linalg.norm(joined), 1)


def test_a_text_in_the_very_middle_has_no_direction():
    space = TextSpace({"cls": np.ones(2)})
    assert space.join({"cls": np.ones((1, 2))}).tolist() == [[0, 0]]
