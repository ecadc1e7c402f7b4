"""The page of an audit."""

from __future__ import annotations

import re

import pytest

from masker.audit import Audit, audit, compare_audits
from masker.config import AuditSettings
from masker.documents import Documents
from masker.report.audit_page import audit_page
from masker.report.svg import bar_chart, heat_map, interval_chart, line_chart
from tests.audit.conftest import TOPICS, WEIGHTS
from tests.report.html_tree import read_page


@pytest.fixture
def hostile(bag_of_words) -> Audit:
    """An audit whose names and texts would be markup if not escaped."""
    names = {"space": "<script>alert(1)</script>", "food": "a&b", "sport": "'\"><img src=x onerror=alert(2)>"}
    classes = [names[name] for name in sorted(TOPICS)]
    weights = {word: {names[name]: 4.0} for name, words in TOPICS.items() for word in words}
    weights["soup"] = {names["food"]: 1.0}
    texts = ["<script>alert(3)</script> soup & rocket </p>"] * 30 + ["ball <img src=y>"] * 30 + ["soup"] * 30
    labels = [names["space"]] * 30 + [names["sport"]] * 30 + [names["food"]] * 30
    documents = Documents(texts, None, labels, "<i>data</i>")
    other = Documents(["rocket"], None, None, "<u>other</u>")
    settings = AuditSettings(resamples=20)
    return audit(*bag_of_words(weights, classes), documents, settings=settings, other=other, name="<b>model</b>")


def test_foreign_text_is_never_markup(hostile):
    page = audit_page(hostile)
    tree = read_page(page)
    assert not {"script", "img", "i", "u"} & set(tree.tags)
    text = " ".join(tree.text)
    assert "<script>alert(1)</script>" in text and "<b>model</b>" in text and "<i>data</i>" in text
    assert "alert(3)" in text, "the passage is shown"


def test_the_page_is_self_contained(hostile):
    page = audit_page(hostile)
    assert read_page(page).links == []
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", page)
    assert "default-src 'none'" in page


def test_the_page_says_what_was_found(bag_of_words, topic_documents):
    found = audit(*bag_of_words(WEIGHTS), topic_documents, settings=AuditSettings(resamples=20), name="mine")
    tree = read_page(audit_page(found))
    text = " ".join(tree.text)
    assert "Does mine rely on keywords?" in text and "Reliance on keywords: 1.00" in text
    assert {"rocket", "soup", "stadium"} <= set(tree.text)
    assert tree.tags.count("svg") == 5


def test_a_comparison_shows_both(bag_of_words, topic_documents):
    settings = AuditSettings(resamples=20)
    one = audit(*bag_of_words(WEIGHTS), topic_documents, settings=settings, name="one")
    two = audit(*bag_of_words({}), topic_documents, settings=settings, name="two")
    text = " ".join(read_page(audit_page(compare_audits(one, two, resamples=20))).text)
    assert "one relies more on keywords than two" in text and "Does two rely" in text and "none found" in text
    text = " ".join(read_page(audit_page(compare_audits(two, one, resamples=20))).text)
    assert "two relies less on keywords than one" in text
    text = " ".join(read_page(audit_page(compare_audits(one, one, resamples=20))).text)
    assert "show no difference" in text


def test_pictures_stay_inside_their_frame():
    for picture in (
        line_chart([0, 0.5, 1], {"a<b": [1, 0.5, 0], "c": [0, 0, 1]}, title="t", x_title="x"),
        bar_chart({"a": 1.4, "b": -0.2}, title="t"),
        interval_chart({"a": (0.5, -2.0, 2.0)}, title="t", low=0.0, high=1.0),
        heat_map({"a" * 60: {"r" * 60: 0.0}, "b": {"r" * 60: 3.5}}, title="t"),
        heat_map({}, title="t"),
    ):
        read_page(picture)
        width, height = (float(value) for value in re.search(r"viewBox='0 0 (\S+) (\S+)'", picture).groups())
        for x in re.findall(r"(?: x| cx| x1| x2)='([-0-9.]+)'", picture):
            assert 0 <= float(x) <= width
        for y in re.findall(r"(?: y| cy| y1| y2)='([-0-9.]+)'", picture):
            assert 0 <= float(y) <= height
