"""Text of any origin as a page, a figure or Markdown can show it."""

from __future__ import annotations

import re
import unicodedata

#: Writing direction overrides would garble what stands beside them.
_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")
#: No characters to XML.
_NONE = frozenset("\ufffe\uffff")


def plain_text(text: str) -> str:
    """Text without line breaks, control characters and direction overrides, which no figure or page can show."""
    kept = (
        " " if unicodedata.category(character) in ("Cc", "Cs") or character in _NONE else character
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


def markdown_text(text: str) -> str:
    """Text in which nothing is Markdown or HTML."""
    return re.sub(r"([\\`*_{}\[\]<>|#$~])", r"\\\1", plain_text(text))
