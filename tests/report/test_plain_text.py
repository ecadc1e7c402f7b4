"""Text of any origin."""

from __future__ import annotations

import pytest

from masker.report.plain_text import markdown_text, plain_text, short_label


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n\tb  c", "a b c"),
        ("nul\x00 bell\x07", "nul bell"),
        ("a\u202eb\u2066c\u200f", "abc"),
        ("\ud800 x \ufffe\uffff", "x"),
        ("👩\u200d🚀 😀", "👩\u200d🚀 😀"),
        ("خدمة <b>", "خدمة <b>"),
    ],
)
def test_what_cannot_be_shown_is_left_out(text, shown):
    assert plain_text(text) == shown
    plain_text(text).encode("utf-8")


def test_long_labels_keep_both_ends():
    assert short_label("short") == "short"
    found = short_label("REFUNDS_RETURNS_REPLACEMENTS", 20)
    assert len(found) == 20 and found.startswith("REFUNDS") and found.endswith("MENTS") and "…" in found


def test_nothing_is_markdown():
    assert markdown_text("<b>*a* | [x](y)`") == r"\<b\>\*a\* \| \[x\](y)\`"
