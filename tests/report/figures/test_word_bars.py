"""Lists of words with bars."""

from __future__ import annotations

import matplotlib

from masker.report.figures.canvas import STYLE, WIDTH
from masker.report.figures.word_bars import draw_word_bars

WORDS = [{"word": "soup", "score": 2.0}, {"word": "a word that is far too long", "score": 1.0}]


def test_the_first_word_is_on_top():
    with matplotlib.rc_context(STYLE):
        canvas = draw_word_bars({"one": WORDS, "two": WORDS[:1]}, "score")
        assert draw_word_bars({"one": WORDS}, "score").get_figwidth() < WIDTH == canvas.get_figwidth()
    left, right = canvas.axes
    assert [bar.get_width() for bar in left.patches] == [2.0, 1.0]
    assert left.get_ylim() == right.get_ylim() == (1.5, -0.5), "rows of both lists are level"
    assert [label.get_text() for label in left.get_yticklabels()] == ["soup", "a word t… long"]
