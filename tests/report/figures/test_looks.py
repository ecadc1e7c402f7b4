"""The check that figures can be read finds what cannot."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib")

from masker.report.figures.canvas import Picture, new_canvas
from tests.report.figures.looks import assert_readable


@pytest.mark.parametrize(
    ("places", "problem"),
    [([(0.1, 0.1), (0.12, 0.1)], "over"), ([(0.95, 0.5)], "leaves"), ([(0.1, 0.1), (0.1, 0.5)], None)],
)
def test_overlaps_and_texts_outside_are_found(places, problem):
    canvas = new_canvas(2.0)
    for x, y in places:
        canvas.text(x, y, "some words")
    picture = Picture("p", "t", "c", canvas)
    if problem is None:
        assert_readable(picture)
    else:
        with pytest.raises(AssertionError, match=problem):
            assert_readable(picture)
