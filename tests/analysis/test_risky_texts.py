"""Which texts are shown, and in which order."""

from __future__ import annotations

import numpy as np

from masker.analysis.answers import Answered
from masker.analysis.risky_texts import MOST_TEXTS, QUOTED, quoted, risky_texts
from masker.detection.detector import Judgement
from masker.documents import Documents

CLASSES = ["food", "space"]


def judged(predicted, confidence, p_values, rejected) -> Judgement:
    sure = np.array(confidence)
    return Judgement(
        sure[:, None], np.array(predicted), sure, np.zeros(len(sure)), np.array(p_values), np.array(rejected, bool)
    )


def test_the_worst_of_each_kind_first():
    """b and c are wrong, c more confidently; d is wrong and rejected; e is rejected with the lower p-value."""
    test = Documents(list("abcde"), None, ["food"] * 5, "t")
    answers = judged([0, 1, 1, 1, 0], [0.9, 0.6, 0.8, 0.99, 0.7], [0.9, 0.5, 0.4, 0.03, 0.01], [0, 0, 0, 1, 1])
    known = Answered("t", False, True, np.zeros(5, dtype=int), answers)
    foreign = Documents(list("xyz"), None, None, "f")
    others = judged([0, 1, 1], [0.9, 0.9, 0.9], [0.2, 0.8, 0.01], [0, 0, 1])
    found = risky_texts(test, known, {"reviews": (foreign, others)}, CLASSES)
    assert {kind: [row.text for row in rows] for kind, rows in found.items()} == {
        "confidently wrong": ["c", "b"],
        "rejected although known": ["e", "d"],
        "answered although foreign: reviews": ["y", "x"],
    }
    worst = found["confidently wrong"][0]
    assert (worst.label, worst.predicted, worst.confidence, worst.p_value) == ("food", "space", 0.8, 0.4)


def test_no_more_than_a_few_and_none_of_a_kind_that_does_not_occur():
    count = MOST_TEXTS + 5
    test = Documents([str(n) for n in range(count)], None, ["food"] * count, "t")
    answers = judged([1] * count, np.linspace(0.5, 1, count), [0.5] * count, [0] * count)
    found = risky_texts(test, Answered("t", False, True, np.zeros(count, dtype=int), answers), {}, CLASSES)
    assert list(found) == ["confidently wrong"]
    assert [row.text for row in found["confidently wrong"]] == [str(n) for n in range(count - 1, 4, -1)]


def test_quotes_are_short_and_show_both_texts_of_a_pair():
    documents = Documents(["a\n b", "x" * 1000], ["c", "d"], None, "pairs")
    assert quoted(documents, 0) == "a b ⟶ c"
    assert quoted(Documents(["half \ud83d"], None, None, "d"), 0) == "half ?"
    assert len(quoted(documents, 1)) == QUOTED and quoted(documents, 1).endswith("…")
