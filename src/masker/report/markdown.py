"""Markdown tables, aligned so that they are readable as plain text."""

from __future__ import annotations

from collections.abc import Sequence


def markdown_table(header: Sequence[str], body: Sequence[Sequence[str]], *, left: int = 1) -> list[str]:
    """The lines of a Markdown table; the first ``left`` columns are aligned left, the others right."""
    widths = [max(3, *(len(row[place]) for row in (header, *body))) for place in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = (
            text.ljust(width) if place < left else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        return f"| {' | '.join(cells)} |"

    rule = ["-" * width if place < left else "-" * (width - 1) + ":" for place, width in enumerate(widths)]
    return [line(header), line(rule), *(line(row) for row in body)]
