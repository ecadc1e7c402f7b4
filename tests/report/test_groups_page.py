"""The page of groups quotes texts safely."""

from __future__ import annotations

from masker.discovery import Discovery, TextGroup
from masker.report.groups_page import groups_page, write_groups_page


def found(**changes):
    values = {"name": "a <b>", "terms": ["<i>"], "texts": 1234, "cohesion": 0.5, "nearest": "x & y", "novelty": 0.9}
    group = TextGroup(**{**values, "is_new": False, "middle": ["<script>alert(1)</script>"], "edge": [], **changes})
    return Discovery("model", "data.csv", 5000, 1300, 1234, 1300, True, [group])


def test_nothing_of_a_text_is_markup():
    page = groups_page(found())
    assert "<script" not in page and "&lt;script&gt;" in page and "a &lt;b&gt;" in page and "x &amp; y" in page
    assert "1,234" in page and "perhaps a part of that class" in page and "From the edge" not in page


def test_a_model_without_statistics(tmp_path):
    page = write_groups_page(found(nearest=None, novelty=None, is_new=None), tmp_path).read_text()
    assert "–" in page and "prefers-color-scheme: dark" in page
