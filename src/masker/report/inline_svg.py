"""From a drawn figure to SVG: with texts on hover, as a file of its own, and as part of a page.

In a page colours become CSS variables, so that they follow light and dark; names are made unique, because several
figures share one document; and the font is the page's.
"""

from __future__ import annotations

import io
import re
import warnings
import xml.etree.ElementTree as ElementTree

import matplotlib

from masker.report.figures.canvas import Picture
from masker.report.plain_text import plain_text
from masker.report.theme import VARIABLES

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_HREF = f"{{{_XLINK}}}href"
_FONT = re.compile(r"font-family:[^;]*;?\s*")
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_REFERENCE = re.compile(r"url\(#([^)]*)\)")

Element = ElementTree.Element


def svg_of(picture: Picture) -> Element:
    """The SVG of a figure, with a title for it and for each of its marks that has one."""
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": picture.name}), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the reader's fonts may have the letters that matplotlib's lacks
        picture.canvas.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    picture.canvas.set_layout_engine("none")  # it is laid out; doing so again for another form takes as long
    root = ElementTree.fromstring(buffer.getvalue())
    for metadata in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(metadata)
    root.set("role", "img")
    root.set("aria-label", plain_text(f"{picture.title}. {picture.caption}"))
    for gid, tips in picture.tips.items():
        group = root.find(f".//*[@id='{gid}']")
        if group is not None:
            for mark, tip in zip(_marks(group), tips, strict=True):
                ElementTree.SubElement(mark, f"{{{_SVG}}}title").text = tip
    return root


def _marks(group: Element) -> list[Element]:
    """What an artist has drawn, in order; definitions are not drawn."""
    if group.tag == f"{{{_SVG}}}defs":
        return []
    if group.tag in (f"{{{_SVG}}}use", f"{{{_SVG}}}path"):
        return [group]
    return [mark for child in group for mark in _marks(child)]


def svg_file(root: Element) -> str:
    """The text of an SVG file."""
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def svg_in_page(root: Element, name: str) -> str:
    """The text of an SVG element in a page. Changes ``root``."""
    for definitions in root.findall(f"{{{_SVG}}}defs"):
        for style in definitions.findall(f"{{{_SVG}}}style"):
            definitions.remove(style)  # it would apply to the whole page
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            if key == "id":
                element.set(key, f"{name}-{value}")
            elif key == _HREF:
                element.set(key, f"#{name}-{value[1:]}")
            elif key in ("style", "clip-path"):
                value = _REFERENCE.sub(rf"url(#{name}-\1)", _FONT.sub("", value))
                element.set(key, _COLOUR.sub(lambda found: VARIABLES.get(found[0], found[0]), value))
    return ElementTree.tostring(root, encoding="unicode")
