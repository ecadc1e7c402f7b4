"""The benchmark of the promised rate: how documents are dealt, and its table."""

from __future__ import annotations

import json

import numpy as np

from benchmarks.promise import DRAWS, PAGE, RESULTS, parts_of, promise_table, rejected


def test_small_corpora_are_divided_alike():
    assert parts_of(1100) == parts_of(5000) == (300, 200)
    assert parts_of(330) == (90, 60)


def test_the_rate_is_kept_by_scores_that_are_drawn_alike():
    """Of 200 calibrating documents 10 of 201 are rejected on average; to be 95 % sure, fewer."""
    scores, predicted = np.random.default_rng(1).normal(size=4000), np.zeros(4000, dtype=np.int64)
    average, sure = (rejected(scores, predicted, 200, confidence) for confidence in (None, 0.95))
    assert len(average) == DRAWS and 0.04 < np.mean(average) < 0.06
    assert np.mean(sure) < 0.035 and sum(rate > 0.05 for rate in sure) <= 4


def test_table():
    row = {"corpus": "mail", "calibrating": 200, "new": 600, "average": [0.04, 0.06], "sure": [0.01, 0.051]}
    assert promise_table({"rows": [row]}).splitlines()[-1] == (
        "| mail | 200 / 600 | 5.0 % ± 1.0 | 3.0 %; 1 of 2 draws above 5 % |"
    )


def test_the_page_shows_the_stored_figures():
    assert promise_table(json.loads(RESULTS.read_text(encoding="utf-8"))) in PAGE.read_text(encoding="utf-8")
