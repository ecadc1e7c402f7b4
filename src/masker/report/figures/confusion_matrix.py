"""Confusion matrix, with a column for what is rejected and a row for each foreign set."""

from __future__ import annotations

import numpy as np

from masker.analysis.report_data import Report
from masker.report.figures.canvas import WIDTH, Picture
from masker.report.figures.matrix import Matrix, draw_matrix
from masker.report.plain_text import plain_text


def draw_confusion_matrix(report: Report) -> Picture | None:
    """Squares are coloured by their share of the row."""
    if report.known is None:
        return None
    confusion = report.known.confusion
    counts = np.zeros((len(confusion.rows), len(confusion.columns)), dtype=np.int64)
    for row, column, count in confusion.cells:
        counts[row, column] = count
    totals = np.maximum(counts.sum(axis=1, keepdims=True), 1)
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
    if report.detection:
        caption += " The last rows are foreign texts: there only the last column is right."
    wide = canvas.get_figwidth() > WIDTH
    return Picture("confusion", "What is taken for what", caption, canvas, {"confusion-squares": tips}, wide)
