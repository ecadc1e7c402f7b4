"""What the benchmark of several labels draws and writes, without training."""

from __future__ import annotations

import json

import numpy as np

from benchmarks.multi_label import PAGE, RESULTS, draws_table, figures_table, known_only, over_draws
from masker import Documents


def test_the_promise_is_kept_over_draws():
    draw = np.random.default_rng(0)
    true = (draw.random((300, 4)) < 0.4).astype(int)
    found = over_draws(draw.normal(4.0 * true - 5.0, 1.0), true, 0.2)
    assert found["held_out"] == 150
    assert 0.18 < found["missed_share"]["mean"] < 0.2 + 3 * found["missed_share"]["standard_error"]


def test_documents_with_a_label_that_training_lacks_are_left_out():
    test = Documents(["x", "y", "z"], None, [["a"], ["a", "b"], []], "made up")
    assert known_only(test, ["a"]).texts == ["x", "z"]


def test_the_page_shows_the_stored_figures():
    stored, page = json.loads(RESULTS.read_text(encoding="utf-8")), PAGE.read_text(encoding="utf-8")
    assert figures_table(stored) in page
    assert draws_table(stored) in page
