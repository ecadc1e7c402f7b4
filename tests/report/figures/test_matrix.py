"""Matrices of any size."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

from masker.report.figures.canvas import STYLE, Picture
from masker.report.figures.matrix import Matrix, draw_matrix, square_side
from masker.report.theme import level_colour
from tests.report.figures.looks import assert_readable, texts_of


def matrix(count: int) -> Matrix:
    names = [f"class {n}" for n in range(count)]
    shares = np.eye(count)
    shares[0, 1] = 0.3
    numbers = [[f"{share:.1f}" for share in row] for row in shares]
    return Matrix(names, names, shares, numbers, "texts of", "keywords of", "squares")


@pytest.mark.parametrize("count", [2, 5, 28, 64, 150])
def test_squares_where_there_is_something(count):
    with matplotlib.rc_context(STYLE):
        canvas, squares = draw_matrix(matrix(count))
    assert squares == [[0, 0], [0, 1], *([n, n] for n in range(1, count))]
    [marks] = canvas.axes[0].collections
    assert marks.get_offsets().tolist() == [[column, row] for row, column in squares]
    np.testing.assert_allclose(marks.get_facecolor()[1], matplotlib.colors.to_rgba(level_colour(0.3)))
    picture = Picture("p", "t", "c", canvas)
    assert_readable(picture)
    written = texts_of(picture)
    assert ("0.3" in written) == (square_side(count) >= 0.22), "small squares have no numbers"
    assert "rows: texts of\ncolumns: keywords of" in written


def test_squares_shrink():
    sides = [square_side(count) for count in (2, 5, 10, 20, 40, 80, 150)]
    assert sides == sorted(sides, reverse=True) and 150 * sides[-1] < 20
