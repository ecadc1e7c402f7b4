"""How often the keywords of one class occur in texts of another, as in the paper."""

from __future__ import annotations

import numpy as np

from masker.analysis.report_data import Report
from masker.report.figures.canvas import WIDTH, Picture
from masker.report.figures.matrix import Matrix, draw_matrix
from masker.report.plain_text import plain_text


def draw_keyword_heat_map(report: Report) -> Picture | None:
    """Columns are the classes of the keywords, rows those of the texts."""
    if report.keyword_rates is None:
        return None
    rates = report.keyword_rates.rates
    sources, targets = list(rates), list(next(iter(rates.values())))
    values = np.array([[rates[source][target] for source in sources] for target in targets])
    highest = values.max() or 1.0
    canvas, squares = draw_matrix(
        Matrix(
            targets,
            sources,
            values / highest,
            [[f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" for value in line] for line in values],
            "texts of",
            "keywords of",
            "keyword-squares",
        )
    )
    words = report.keyword_rates.keywords
    tips = [
        f"{values[row, column]:.2f} % of the tokens of {plain_text(targets[row])} are keywords of "
        f"{plain_text(sources[column])}: {plain_text(', '.join(words[sources[column]]))}"
        for row, column in squares
    ]
    caption = (
        "Share of the tokens of a class (row) that are among the ten keywords of a class (column), in %, by "
        f"{report.keyword_rates.scheme}, without stop words; the strongest colour is {highest:.1f} %. Keywords that "
        "are frequent outside their own class mislead a classifier that relies on them."
    )
    if len(sources) < len(report.model.classes):
        caption = f"{len(sources)} of {len(report.model.classes)} classes, from a sample of documents. {caption}"
    wide = canvas.get_figwidth() > WIDTH
    return Picture("keyword-heat-map", "Where keywords occur", caption, canvas, {"keyword-squares": tips}, wide)
