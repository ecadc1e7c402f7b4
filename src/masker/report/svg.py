"""Small charts as SVG text, to be embedded in an HTML page. All text is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

COLOURS = ("#b3391f", "#5b7083", "#1f6f8b", "#8a6d1f")


def line_chart(x: Sequence[float], lines: Mapping[str, Sequence[float]], *, title: str, x_title: str) -> str:
    """Named lines with values between 0 and 1 over ``x`` between 0 and 1; axes are labelled in percent."""
    width, height, left, top = 380, 230, 44, 28
    right, bottom = width - 14, height - 62

    def place(at: float, value: float) -> tuple[str, str]:
        return f"{left + at * (right - left):.1f}", f"{bottom - value * (bottom - top):.1f}"

    parts = [f"<text x='{left}' y='16' font-weight='600'>{escape(title)}</text>"]
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = bottom - value * (bottom - top)
        parts.append(f"<line x1='{left}' x2='{right}' y1='{y:.1f}' y2='{y:.1f}' stroke='#e3e3e0'/>")
        parts.append(f"<text x='{left - 6}' y='{y + 4:.1f}' text-anchor='end' fill='#666'>{100 * value:.0f}</text>")
    for at in x:
        middle = left + at * (right - left)
        parts.append(f"<text x='{middle:.1f}' y='{bottom + 16}' text-anchor='middle' fill='#666'>{100 * at:g}</text>")
    parts.append(
        f"<text x='{(left + right) / 2}' y='{bottom + 33}' text-anchor='middle' fill='#666'>{escape(x_title)}</text>"
    )
    for number, (name, values) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = [place(at, value) for at, value in zip(x, values, strict=True)]
        line = " ".join(f"{across},{down}" for across, down in points)
        parts.append(f"<polyline points='{line}' fill='none' stroke='{colour}' stroke-width='2'/>")
        parts += [f"<circle cx='{across}' cy='{down}' r='3' fill='{colour}'/>" for across, down in points]
        at = left + number * 165
        parts.append(f"<rect x='{at}' y='{height - 16}' width='12' height='4' fill='{colour}'/>")
        parts.append(f"<text x='{at + 18}' y='{height - 10}'>{escape(name)}</text>")
    return _svg(width, height, title, parts)


def bar_chart(bars: Mapping[str, float], *, title: str) -> str:
    """Horizontal bars between 0 and 1, each labelled with its name and percentage."""
    width, left, row = 560, 220, 24
    height = row * len(bars) + 8
    parts = []
    for number, (name, value) in enumerate(bars.items()):
        y = 4 + number * row
        length = max(0.0, min(1.0, value)) * (width - left - 60)
        parts.append(f"<text x='{left - 8}' y='{y + 15}' text-anchor='end'>{escape(name)}</text>")
        parts.append(f"<rect x='{left}' y='{y + 4}' width='{length:.1f}' height='14' fill='{COLOURS[number % 2]}'/>")
        parts.append(f"<text x='{left + length + 6:.1f}' y='{y + 15}' fill='#444'>{100 * value:.1f}</text>")
    return _svg(width, height, title, parts)


def interval_chart(rows: Mapping[str, tuple[float, float, float]], *, title: str, low: float, high: float) -> str:
    """Values with intervals on a scale from ``low`` to ``high``; a row is (value, lower end, upper end)."""
    row, left = 28, max(120, 24 + 7 * min(28, max((len(name) for name in rows), default=0)))
    width, height = left + 440, row * len(rows) + 24

    def at(value: float) -> float:
        return left + (min(max(value, low), high) - low) / (high - low) * (width - left - 70)

    parts = []
    for mark in (low, (low + high) / 2, high):
        x = at(mark)
        parts.append(f"<line x1='{x:.1f}' x2='{x:.1f}' y1='4' y2='{height - 20}' stroke='#e3e3e0'/>")
        parts.append(f"<text x='{x:.1f}' y='{height - 6}' text-anchor='middle' fill='#666'>{mark:g}</text>")
    for number, (name, (value, lower, upper)) in enumerate(rows.items()):
        y = 18 + number * row
        colour = COLOURS[0] if number == 0 else COLOURS[1]
        parts.append(f"<text x='{left - 12}' y='{y + 4}' text-anchor='end'>{escape(_short(name, 28))}</text>")
        parts.append(
            f"<line x1='{at(lower):.1f}' x2='{at(upper):.1f}' y1='{y}' y2='{y}' stroke='{colour}' stroke-width='3'/>"
        )
        parts.append(f"<circle cx='{at(value):.1f}' cy='{y}' r='5' fill='{colour}'/>")
        parts.append(f"<text x='{width - 60}' y='{y + 4}' font-weight='600'>{value:.2f}</text>")
    return _svg(width, height, title, parts)


def heat_map(cells: Mapping[str, Mapping[str, float]], *, title: str) -> str:
    """A grid with outer names as columns and inner names as rows; higher numbers are darker."""
    columns = list(cells)
    rows = list(next(iter(cells.values()), {}))
    left = 12 + 7 * min(40, max((len(name) for name in rows), default=0))
    top = 16 + 5 * min(28, max((len(name) for name in columns), default=0))
    size, high = 54, 24
    highest = max((value for column in cells.values() for value in column.values()), default=0.0) or 1.0
    width, height = left + size * len(columns) + 90, top + high * len(rows) + 8
    parts = []
    for place, name in enumerate(columns):
        x = left + place * size + size / 2
        shown = escape(_short(name, 28))
        parts.append(f"<text x='{x}' y='{top - 6}' transform='rotate(-40 {x} {top - 6})'>{shown}</text>")
    for line, row in enumerate(rows):
        y = top + line * high
        parts.append(f"<text x='{left - 8}' y='{y + 16}' text-anchor='end'>{escape(_end_of(row, 40))}</text>")
        for place, column in enumerate(columns):
            value = cells[column][row]
            ink = "#fff" if value > 0.6 * highest else "#333"
            x = left + place * size
            parts.append(
                f"<rect x='{x}' y='{y}' width='{size - 2}' height='{high - 2}' fill='{_shade(value / highest)}'/>"
                f"<text x='{x + size / 2 - 1}' y='{y + 15}' text-anchor='middle' fill='{ink}'>{value:.2f}</text>"
            )
    return _svg(width, height, title, parts)


def _svg(width: float, height: float, title: str, parts: list[str]) -> str:
    size = f"viewBox='0 0 {width:g} {height:g}' width='{width:g}' height='{height:g}'"
    font = "font-family='system-ui, sans-serif' font-size='12'"
    start = f"<svg {size} role='img' aria-label='{escape(title)}' {font} xmlns='http://www.w3.org/2000/svg'>"
    return "".join([start, *parts, "</svg>"])


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _end_of(name: str, most: int) -> str:
    """Keep the end of a name: row names share their beginning, the corpus."""
    return name if len(name) <= most else "…" + name[1 - most :]


def _shade(part: float) -> str:
    """A colour between near white and dark blue."""
    light, dark = (242, 245, 247), (20, 75, 105)
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(light, dark, strict=True))
