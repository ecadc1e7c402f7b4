"""What all figures share: size, style, axes, legends, and labels that may hold anything."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter

from masker.report.theme import LIGHT

#: Inches. Two fit beside each other on a screen; on a phone writing keeps four fifths of its size.
WIDTH = 4.4
TALL = 5.0
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

    @property
    def shape(self) -> str:
        """``wide``; ``tall`` if two figures of the usual height fit beside it; ``small``; or nothing."""
        width, height = self.canvas.get_size_inches()
        if self.wide:
            return "wide"
        return "small" if width < 0.9 * WIDTH else "tall" if height > TALL else ""


def new_canvas(height: float, width: float = WIDTH) -> Canvas:
    """A figure whose parts are laid out so that they do not overlap."""
    return Canvas(figsize=(width, height), layout="constrained")


def text_width(texts: Sequence[str], size: float) -> float:
    """The width of the widest of some texts, in inches."""
    page = Canvas()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font lacks have some width, too
        widths = [page.text(0, 0, text, fontsize=size).get_window_extent().width for text in texts]
    return float(max(widths, default=0.0) / page.dpi)


def percent_axis(axis: Any) -> None:
    """Shares between 0 and 1 in percent; the name of the axis says so."""
    axis.set_major_formatter(FuncFormatter(lambda share, place: f"{100 * share:.3g}"))


def legend_above(canvas: Canvas, handles: Sequence[Any]) -> None:
    """A legend over the axes, where it hides nothing; in two columns if they fit."""
    wide = 2 * (text_width([handle.get_label() for handle in handles], SMALL) + 0.55) > canvas.get_figwidth()
    columns = 1 if wide else 2
    canvas.legend(handles=list(handles), loc="outside upper left", ncols=columns, handlelength=2.2, columnspacing=1.2)
