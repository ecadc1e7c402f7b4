"""What all figures share: size, style, axes, legends, and labels that may hold anything."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import PercentFormatter

from masker.report.theme import LIGHT

#: Inches. Two fit beside each other on a screen; on a phone writing keeps four fifths of its size.
WIDTH = 4.4
FONT = 9.0
SMALL = 8.0
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.4)), (0, (5, 2, 1, 2)), (0, (3, 1)), (0, (8, 2)))

#: Of matplotlib. Labels are plain text: a dollar sign is no formula.
STYLE: dict[str, Any] = {
    "text.parse_math": False,
    "svg.fonttype": "none",
    "font.size": FONT,
    "font.family": "sans-serif",
    "axes.labelsize": FONT,
    "axes.titlesize": FONT,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "figure.facecolor": LIGHT["surface"],
    "axes.facecolor": LIGHT["surface"],
    "savefig.facecolor": LIGHT["surface"],
    "text.color": LIGHT["ink"],
    "axes.labelcolor": LIGHT["ink"],
    "axes.edgecolor": LIGHT["muted"],
    "axes.linewidth": 0.8,
    "xtick.color": LIGHT["muted"],
    "ytick.color": LIGHT["muted"],
    "xtick.labelcolor": LIGHT["ink"],
    "ytick.labelcolor": LIGHT["ink"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": LIGHT["grid"],
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "lines.linewidth": 1.6,
}

#: Writing direction overrides would garble what stands beside them.
_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


@dataclass(frozen=True)
class Picture:
    """A drawn figure.

    Attributes:
        name: Of its files.
        title: In the page, and for readers who do not see it.
        caption: How to read it.
        canvas: The matplotlib figure.
        tips: Texts shown on hover: those of the marks of each artist with this ``gid``, in order.
        wide: Whether it may scroll sideways instead of shrinking.
    """

    name: str
    title: str
    caption: str
    canvas: Canvas
    tips: dict[str, list[str]] = field(default_factory=dict)
    wide: bool = False


def new_canvas(height: float, width: float = WIDTH) -> Canvas:
    """A figure whose parts are laid out so that they do not overlap."""
    return Canvas(figsize=(width, height), layout="constrained")


def plain_text(text: str) -> str:
    """Text without line breaks, control characters and direction overrides, which no figure or page can show."""
    kept = (
        character if unicodedata.category(character) not in ("Cc", "Cs", "Co", "Cn") else " "
        for character in text
        if character not in _OVERRIDES
    )
    return " ".join("".join(kept).split())


def short_label(text: str, most: int = 24) -> str:
    """A label that fits; the middle of a long one is left out, as beginnings and ends tell labels apart."""
    text = plain_text(text)
    if len(text) <= most:
        return text
    head = (most - 1) * 2 // 3
    return f"{text[:head]}…{text[head + 1 - most :]}"


def percent_axis(axis: Any) -> None:
    """Shares between 0 and 1 in percent; the name of the axis says so."""
    axis.set_major_formatter(PercentFormatter(1.0, decimals=None, symbol=""))


def legend_above(canvas: Canvas, handles: Sequence[Any], *, columns: int = 2) -> None:
    """A legend over the axes, where it hides nothing."""
    canvas.legend(handles=list(handles), loc="outside upper left", ncols=columns, handlelength=2.2, columnspacing=1.2)
