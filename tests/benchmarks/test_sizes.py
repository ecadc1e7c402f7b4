"""The tables of the benchmark of sizes, and the class that it leaves one text."""

from __future__ import annotations

import json

from benchmarks.sizes import PAGE, RESULTS, TABLES, decisions_table, one_text, sizes_table
from masker import Documents

FIGURES = {"accuracy": 0.5, "auroc": 0.75, "known_rejected": 0.05, "foreign_rejected": 0.25, "seconds": 2.0}
ROW = {
    "case": "2 classes × 8",
    "texts": 1234,
    "classes": 2,
    "linear": FIGURES,
    "masker": {**FIGURES, "accuracy": 0.625, "seconds": 7.0},
    "decisions": {"pooling": "the mean", "rejection": "at most 6 %"},
}


def test_both_methods_stand_in_one_row():
    assert sizes_table({"rows": {"any": ROW}}).splitlines()[2:] == [
        "| 2 classes × 8 (1,234) | 50.0 / 62.5 | 75.0 / 75.0 | 5.0 / 5.0 | 25.0 / 25.0 | 3.5 |"
    ]


def test_decisions_stand_below_their_case():
    assert decisions_table({"rows": {"any": ROW}}).splitlines() == [
        "- **2 classes × 8**",
        "    - pooling: the mean",
        "    - rejection: at most 6 %",
    ]


def test_one_class_keeps_its_first_text_and_the_others_all():
    documents = Documents(["1", "2", "3", "4", "5"], None, ["b", "a", "a", "b", "a"], "made up")
    kept = one_text(documents, "a")
    assert (kept.texts, kept.labels) == (["1", "2", "4"], ["b", "a", "b"])


def test_the_page_shows_the_stored_figures():
    stored, page = json.loads(RESULTS.read_text(encoding="utf-8")), PAGE.read_text(encoding="utf-8")
    for make, _ in TABLES.values():
        assert make(stored) in page
