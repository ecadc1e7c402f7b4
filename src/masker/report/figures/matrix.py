"""A matrix of squares, readable from 2 to 160 rows: squares shrink, numbers disappear, hovering tells the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure as Canvas

from masker.report.figures.canvas import SMALL, text_width
from masker.report.plain_text import short_label
from masker.report.theme import LIGHT, ink_on, level_colour

#: Rows up to which a square has this side, in inches.
_SIDES = ((3, 0.62), (6, 0.46), (12, 0.32), (24, 0.24), (40, 0.19), (80, 0.13))
_SMALLEST_SIDE = 0.12
#: Squares of at least this side have a number in them.
_NUMBERED = 0.22
#: More rows or columns are nothing to look at, and a page of all of them takes minutes and hundreds of megabytes.
MOST_ROWS = 160


@dataclass(frozen=True)
class Matrix:
    """Rows and columns with names; ``shares`` (R, C) between 0 and 1 set the colour, 0 is empty."""

    rows: Sequence[str]
    columns: Sequence[str]
    shares: npt.NDArray[np.float64]
    numbers: Sequence[Sequence[str]]
    row_title: str
    column_title: str
    gid: str


def square_side(count: int) -> float:
    """The side of a square in a matrix with this many rows or columns, in inches."""
    return next((side for most, side in _SIDES if count <= most), _SMALLEST_SIDE)


def draw_matrix(matrix: Matrix) -> tuple[Canvas, list[list[int]]]:
    """The figure, and the row and column of each square that is drawn, in the order of its marks."""
    n_rows, n_columns = matrix.shares.shape
    side = square_side(max(n_rows, n_columns))
    font = min(SMALL, side * 72 * 0.7)
    row_names = [short_label(name, 26) for name in matrix.rows]
    column_names = [short_label(name, 26) for name in matrix.columns]
    titles = f"rows: {matrix.row_title}", f"columns: {matrix.column_title}"
    left = 0.12 + max(text_width(row_names, font), text_width(titles, SMALL))
    top = 0.12 + max(text_width(column_names, font), 0.3)
    width, height = left + n_columns * side + 0.1, top + n_rows * side + 0.1
    canvas = Canvas(figsize=(width, height))
    axes = canvas.add_axes(
        (left / width, 0.1 / height, n_columns * side / width, n_rows * side / height), frameon=False
    )
    filled = [[int(row), int(column)] for row, column in np.argwhere(matrix.shares > 0)]
    drawn = [matrix.shares[row, column] for row, column in filled]
    marks = axes.scatter(
        [column for _, column in filled], [row for row, _ in filled], s=(side * 72 - 0.8) ** 2, marker="s",
        linewidths=0, c=[level_colour(share) for share in drawn], clip_on=False, gid=matrix.gid,
    )  # fmt: skip
    marks.set_zorder(2)
    if side >= _NUMBERED:
        size = min(SMALL, side * 72 * 0.42)
        for (row, column), share in zip(filled, drawn, strict=True):
            axes.text(column, row, matrix.numbers[row][column], ha="center", va="center_baseline", fontsize=size,
                      color=ink_on(share), zorder=3)  # fmt: skip
    axes.set(xlim=(-0.5, n_columns - 0.5), ylim=(n_rows - 0.5, -0.5))
    axes.set_xticks(np.arange(n_columns), column_names, rotation=90, fontsize=font)
    axes.set_yticks(np.arange(n_rows), row_names, fontsize=font)
    axes.set_xticks(np.arange(n_columns + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(n_rows + 1) - 0.5, minor=True)
    axes.grid(visible=False)
    axes.grid(visible=True, which="minor", color=LIGHT["grid"], linewidth=0.5)
    axes.tick_params(which="both", length=0, pad=2)
    axes.xaxis.tick_top()
    canvas.text(0.05 / width, 1 - 0.05 / height, "\n".join(titles), va="top", fontsize=SMALL, color=LIGHT["muted"])
    return canvas, filled
