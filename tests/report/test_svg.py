"""Charts: well-formed, escaped, and with positions that can be worked out by hand."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from masker.report.svg import COLOURS, bar_chart, heat_map, interval_chart, line_chart

SVG = "{http://www.w3.org/2000/svg}"


def read(chart):
    return ElementTree.fromstring(chart)


def texts(chart):
    return [node.text for node in read(chart).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    "chart",
    [
        line_chart([0, 1], {"<a&b>": [0, 1]}, title="<t>", x_title="<x>"),
        bar_chart({"<a&b>": 0.5}, title="<t>"),
        interval_chart({"<a&b>": (0.5, 0.4, 0.6)}, title="<t>", low=0.0, high=1.0),
        heat_map({"<a&b>": {"<r>": 1.0}}, title="<t>"),
    ],
)
def test_words_are_escaped(chart):
    assert read(chart).get("aria-label") == "<t>"
    assert "<a&b>" in texts(chart)


def test_a_line_goes_through_its_points():
    """Width 380 and margins 44 and 14 leave 322 for x; 0 is at y 168 and 1 at y 28, so 0.5 is at y 98."""
    chart = read(line_chart([0.0, 0.5, 1.0], {"a": [0.0, 0.5, 1.0]}, title="t", x_title="x"))
    assert chart.find(f"{SVG}polyline").get("points") == "44.0,168.0 205.0,98.0 366.0,28.0"


def test_bars_are_as_long_as_their_share():
    """280 from the left 220 to the right 560 less 60 for the number; shares beyond 0 and 1 are cut, numbers are not."""
    chart = bar_chart({"a": 0.5, "b": 1.4, "c": -0.2}, title="t")
    assert [bar.get("width") for bar in read(chart).iter(f"{SVG}rect")] == ["140.0", "280.0", "0.0"]
    assert [text for text in texts(chart) if text[0] in "-0123456789"] == ["50.0", "140.0", "-20.0"]


def test_intervals_are_cut_at_the_ends_of_the_scale():
    """A short name gives left 120 and width 560: the scale is 120 to 490, and 0.5 lies at 305."""
    chart = read(interval_chart({"a": (0.5, -2.0, 2.0)}, title="t", low=0.0, high=1.0))
    interval = next(line for line in chart.iter(f"{SVG}line") if line.get("stroke") == COLOURS[0])
    assert (interval.get("x1"), interval.get("x2")) == ("120.0", "490.0")
    assert chart.find(f"{SVG}circle").get("cx") == "305.0"


def test_higher_cells_are_darker():
    cells = [
        cell.get("fill") for cell in read(heat_map({"a": {"r": 0.0}, "b": {"r": 4.0}}, title="t")).iter(f"{SVG}rect")
    ]
    assert cells == ["#f2f5f7", "#144b69"]
    assert "…" in texts(heat_map({"a" * 40: {"r": 1.0}}, title="t"))[0]
    assert not list(read(heat_map({}, title="t")).iter(f"{SVG}rect"))
