"""What figures share."""

from __future__ import annotations

import matplotlib
import pytest

pytest.importorskip("matplotlib")

from masker.report.figures.canvas import STYLE, WIDTH, Picture, legend_above, new_canvas, percent_axis, text_width
from tests.report.figures.looks import texts_of


def test_shapes():
    shapes = {(WIDTH, 3): "", (WIDTH, 6): "tall", (2.0, 2.0): "small"}
    for (width, height), shape in shapes.items():
        assert Picture("p", "t", "c", new_canvas(height, width)).shape == shape
    assert Picture("p", "t", "c", new_canvas(3.0, 12.0), wide=True).shape == "wide"


def test_width_of_texts():
    assert text_width([], 9) == 0.0
    assert 0 < text_width(["i"], 9) < text_width(["i", "mmm"], 9) == text_width(["mmm"], 9) < text_width(["mmm"], 12)


@pytest.mark.parametrize(("label", "columns"), [("a", 2), ("a label that takes most of the line", 1)])
def test_legends_have_as_many_columns_as_fit(label, columns):
    with matplotlib.rc_context(STYLE):
        canvas = new_canvas(3.0)
        axes = canvas.subplots()
        legend_above(canvas, [axes.plot([0, 1], label=f"{label} {n}")[0] for n in range(2)])
        assert canvas.legends[0]._ncols == columns


def test_percent_without_needless_digits_and_dollars_are_no_formulas():
    with matplotlib.rc_context(STYLE):
        canvas = new_canvas(2.0)
        axes = canvas.subplots()
        axes.set_xlim(0, 0.1)
        percent_axis(axes.xaxis)
        axes.set_title("$\\frac{")
        found = texts_of(Picture("p", "t", "c", canvas))
    assert {"0", "2", "10", "$\\frac{"} <= found
