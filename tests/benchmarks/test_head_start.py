"""The tables of the benchmark of starts, and the labels that it makes wrong."""

from __future__ import annotations

import json

from benchmarks.head_start import PAGE, RESULTS, TABLES, information_table, mistakes_table, starts_table, with_mistakes
from masker import Documents


def test_a_table_has_a_line_for_each_corpus():
    rows = [
        {"corpus": "mail", "kind": "topics", "documents": 200, "classes": 3, "share": 0.5},
        {"corpus": "films", "kind": "sentiments", "documents": 200, "classes": 2, "share": 0.1},
        {"corpus": "mail", "kind": "topics", "documents": 1000, "classes": 4, "share": 0.804},
    ]
    assert information_table({"information": rows}).splitlines()[2:] == [
        "| mail | 4 topics | 200: 50 %, 1,000: 80 % |",
        "| films | 2 sentiments | 200: 10 % |",
    ]


def test_starts_stand_side_by_side():
    rows = [
        {"trained_on": "films", "start": start, "tested_on": tested, "documents": 10, "accuracy": figure}
        for start, tested, figure in [("probe", "films", 0.7), ("probe", "food", 0.6), ("new", "films", 0.75)]
    ]
    rows.append({"trained_on": "films", "start": "new", "tested_on": "food", "documents": 10, "accuracy": 0.801})
    assert starts_table({"starts": rows}).splitlines()[2:] == [
        "| films | films | 70.0 | 75.0 |",
        "| films | food | 60.0 | 80.1 |",
    ]


def test_wrong_labels():
    rows = [
        {"share": share, "method": method, "documents": 9, "accuracy": figure}
        for share, method, figure in [(0.0, "linear", 0.9), (0.0, "masker", 0.95), (0.35, "linear", 0.8)]
    ]
    rows.append({"share": 0.35, "method": "masker", "documents": 9, "accuracy": 0.856})
    assert mistakes_table({"mistakes": rows}).splitlines()[2:] == ["| 0 % | 90.0 | 95.0 |", "| 35 % | 80.0 | 85.6 |"]


def test_labels_are_drawn_from_all():
    """Of 1,000 documents of four classes, 40 % are drawn, a quarter of which get their own label."""
    right = ["a", "b", "c", "d"] * 250
    documents = Documents([str(number) for number in range(1000)], None, right, "made up")
    assert with_mistakes(documents, 0.0).labels == right
    changed = sum(one != other for one, other in zip(with_mistakes(documents, 0.4).labels, right, strict=True))
    assert 250 < changed < 350


def test_the_page_shows_the_stored_figures():
    stored, page = json.loads(RESULTS.read_text(encoding="utf-8")), PAGE.read_text(encoding="utf-8")
    for make, _ in TABLES.values():
        assert make(stored) in page
