"""Confusion matrix, with a column for what is rejected and a row for each foreign set."""

from __future__ import annotations

import numpy as np

from masker.analysis.report_data import Confusion, Report
from masker.report.figures.canvas import WIDTH, Picture
from masker.report.figures.matrix import MOST_ROWS, Matrix, draw_matrix
from masker.report.plain_text import plain_text


def draw_confusion_matrix(report: Report) -> Picture | None:
    """Squares are coloured by their share of the row."""
    if report.known is None:
        return None
    confusion = report.known.confusion
    totals = np.zeros((len(confusion.rows), 1), dtype=np.int64)
    for row, _, count in confusion.cells:
        totals[row] += count
    classes = len(confusion.columns) - 1
    kept = most_mistaken(confusion, MOST_ROWS)
    confusion = _part(confusion, kept)
    totals = np.maximum(totals[[*kept, *range(classes, len(totals))]], 1)
    counts = np.zeros((len(confusion.rows), len(confusion.columns)), dtype=np.int64)
    for row, column, count in confusion.cells:
        counts[row, column] = count
    canvas, squares = draw_matrix(
        Matrix(
            confusion.rows,
            confusion.columns,
            counts / totals,
            [[str(count) for count in line] for line in counts],
            "true class",
            "answer",
            "confusion-squares",
        )
    )
    tips = [
        f"{plain_text(confusion.rows[row])} → {plain_text(confusion.columns[column])}: {counts[row, column]} of "
        f"{totals[row, 0]}"
        for row, column in squares
    ]
    caption = (
        "Each row is a true class and its squares add up to its documents; a stronger colour is a larger share of the "
        "row. The last column holds what was rejected."
    )
    if len(kept) < classes:
        caption = (
            f"The {len(kept)} classes with the most mistakes, of {classes}. Each row is a true class, and a stronger "
            "colour is a larger share of its documents; the last column holds what was rejected."
        )
    if report.detection:
        caption += " The last rows are foreign texts: there only the last column is right."
    wide = canvas.get_figwidth() > WIDTH
    return Picture("confusion", "What is taken for what", caption, canvas, {"confusion-squares": tips}, wide)


def most_mistaken(confusion: Confusion, most: int) -> list[int]:
    """The classes that are taken for others, or others for them, most often, in their order; all if they are few."""
    classes = len(confusion.columns) - 1
    mistakes = np.zeros(classes, dtype=np.int64)
    for row, column, count in confusion.cells:
        if row < classes and column < classes and row != column:
            mistakes[[row, column]] += count
    return sorted(np.argsort(-mistakes, kind="stable")[:most].tolist())


def _part(confusion: Confusion, kept: list[int]) -> Confusion:
    """Some classes, all foreign sets, and what was rejected."""
    classes = len(confusion.columns) - 1
    row_of = {row: place for place, row in enumerate([*kept, *range(classes, len(confusion.rows))])}
    column_of = {column: place for place, column in enumerate([*kept, classes])}
    return Confusion(
        [confusion.rows[row] for row in row_of],
        [confusion.columns[column] for column in column_of],
        [
            [row_of[row], column_of[column], count]
            for row, column, count in confusion.cells
            if row in row_of and column in column_of
        ],
    )
