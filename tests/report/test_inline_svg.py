"""Figures as SVG: with texts on hover, as files, and in a page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

pytest.importorskip("matplotlib")

import matplotlib

from masker.report.figures.canvas import STYLE, Picture, new_canvas
from masker.report.inline_svg import svg_file, svg_in_page, svg_of
from masker.report.theme import LIGHT, set_colour
from tests.report.made_report import HOSTILE

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(params=[1, 2, 40], ids=lambda count: f"{count} marks")
def picture(request) -> Picture:
    with matplotlib.rc_context(STYLE):
        canvas = new_canvas(2.0)
        axes = canvas.subplots()
        count = request.param
        axes.scatter(range(count), range(count), color=set_colour(1), linewidths=0, gid="marks")
        axes.set_title(HOSTILE[0])
        axes.set_xlabel(LIGHT["ink"])  # a text that looks like a colour
    tips = [HOSTILE[place % 6] for place in range(count)]
    return Picture("name", "<title>", "caption", canvas, {"marks": tips})


@pytest.fixture
def svg(picture):
    with matplotlib.rc_context(STYLE):
        return svg_of(picture)


def test_every_mark_has_its_text(svg, picture):
    group = svg.find(".//*[@id='marks']")
    assert [title.text for title in group.iter(f"{SVG}title")] == picture.tips["marks"]
    assert svg.get("aria-label") == "<title>. caption" and svg.get("role") == "img"


def test_a_file_is_whole_and_refers_to_nothing(svg):
    text = svg_file(svg)
    assert ElementTree.fromstring(text).tag == f"{SVG}svg"
    assert "<script" not in text and "DOCTYPE" not in text and "rdf" not in text
    assert set(re.findall(r"https?://[^\"'\s]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert set_colour(1) in text and "var(" not in text


def test_in_a_page_colours_are_variables_and_names_are_its_own(svg):
    text = svg_in_page(svg, "roc")
    assert "var(--set1)" in text and set_colour(1) not in text
    assert f">{LIGHT['ink']}</" in text, "texts stay as they are"
    root = ElementTree.fromstring(text)
    assert not list(root.iter(f"{SVG}style")) and "font-family" not in text
    names = {element.get("id") for element in root.iter() if element.get("id")}
    assert all(name.startswith("roc-") for name in names)
    used = set(re.findall(r"url\(#([^)]+)\)", text)) | set(re.findall(r'href="#([^"]+)"', text))
    assert used and used <= names


def test_the_same_figure_gives_the_same_file(picture):
    with matplotlib.rc_context(STYLE):
        assert svg_file(svg_of(picture)) == svg_file(svg_of(picture))


def test_as_many_texts_as_marks(picture):
    picture.tips["marks"].append("one too many")
    with matplotlib.rc_context(STYLE), pytest.raises(ValueError, match="zip"):
        svg_of(picture)
