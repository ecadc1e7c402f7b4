"""What counts as a column of numbers, and one-line errors for everything else."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from masker.errors import DataError
from masker.metrics.vectors import as_vector, check_same_length


@pytest.mark.parametrize(
    "values", [[1, 2, 3], (1.0, 2.0, 3.0), np.array([1, 2, 3], dtype=np.float32), torch.tensor([1, 2, 3])]
)
def test_lists_arrays_and_tensors_become_doubles(values):
    vector = as_vector(values, "x")
    assert vector.dtype == np.float64
    assert vector.tolist() == [1.0, 2.0, 3.0]


def test_booleans_become_zeros_and_ones():
    assert as_vector([True, False], "x").tolist() == [1.0, 0.0]


def test_infinities_pass_unless_refused():
    assert np.isinf(as_vector([np.inf, -np.inf], "x")).all()
    with pytest.raises(DataError, match=r"x must not contain NaN or infinite values; received 2 among 3 .* position 1"):
        as_vector([0.0, np.inf, -np.inf], "x", finite=True)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([], "x must hold at least one number"),
        ([0.0, np.nan, np.nan], "x must not contain NaN; received 2 among 3 numbers, the first at position 1"),
        ([[1.0, 2.0]], r"x must be one-dimensional; received shape \(1, 2\)"),
        (3.0, r"x must be one-dimensional; received shape \(\)"),
        (["high"], "x must be a flat list of numbers; received a list"),
        ([[1.0], [2.0, 3.0]], "x must be a flat list of numbers"),
    ],
)
def test_anything_else_is_refused_in_one_line(values, words):
    with pytest.raises(DataError, match=words) as caught:
        as_vector(values, "x")
    assert "\n" not in str(caught.value)


def test_columns_must_have_the_same_length():
    check_same_length(true=["a", "b"], predicted=np.zeros(2))
    with pytest.raises(
        DataError, match="true and predicted must have one entry per row each; received true: 2, predicted: 1"
    ):
        check_same_length(true=["a", "b"], predicted=[1])


def test_columns_must_have_rows():
    with pytest.raises(DataError, match="true and predicted must hold at least one row; received none"):
        check_same_length(true=[], predicted=[])
