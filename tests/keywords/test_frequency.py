"""Eq. 1, worked out by hand."""

import math

import numpy as np
import pytest

from masker.keywords import frequency
from masker.keywords.choice import top_tokens, top_tokens_by_class
from masker.keywords.frequency import FrequencyScheme, class_frequency_scores, class_token_counts, frequency_scores
from masker.keywords.scheme import Evidence

# Three classes over a vocabulary of six tokens: 0 occurs in all of them, 5 in none.
CORPUS = [
    ([0, 1, 1], 0),
    ([0, 1, 1, 2], 0),
    ([0, 2], 1),
    ([3], 1),
    ([0, 0, 4], 2),
    ([0, 0], 2),
]
COUNTS = np.array([[2, 4, 1, 0, 0, 0], [1, 0, 1, 1, 0, 0], [4, 0, 0, 0, 1, 0]])


def documents():
    return ((np.array(ids, dtype=np.int64), label) for ids, label in CORPUS)


def test_counts_add_up_the_documents_of_a_class():
    np.testing.assert_array_equal(class_token_counts(documents(), 3, 6), COUNTS)


def test_counts_keep_repeated_tokens_of_one_document():
    np.testing.assert_array_equal(class_token_counts([(np.array([2, 2, 2]), 1)], 2, 3), [[0, 0, 0], [0, 0, 3]])


def test_counts_are_made_from_many_documents_at_once_but_not_from_all(monkeypatch):
    """More than 3 tokens are counted together: 3 + 1, 3 + 1, and the 2 that are left."""
    at_once, join = [], np.concatenate
    monkeypatch.setattr(frequency, "_TOKENS_AT_ONCE", 3)
    monkeypatch.setattr(np, "concatenate", lambda cells: at_once.append(join(cells).size) or join(cells))
    counts = class_token_counts([(np.zeros(size, dtype=np.int64), 0) for size in (3, 1, 3, 1, 2)], 1, 1)
    assert at_once == [4, 4, 2]
    assert counts.tolist() == [[10]]


def test_equation_1_by_hand():
    """Largest counts: class 0 has 4 (token 1), class 1 has 1, class 2 has 4 (token 0).

    tf = 0.5 + 0.5 n / max n:

        token      0                 1      2                  3     4
        class 0    0.5+0.5*2/4=0.75  1      0.5+0.5*1/4=0.625  0.5   0.5
        class 1    1                 0.5    1                  1     0.5
        class 2    1                 0.5    0.5                0.5   0.5+0.5*1/4=0.625

    The tokens occur in 3, 1, 2, 1, 1, 0 of the 3 large documents, so
    idf = log(3/3) = 0, log 3, log(3/2), log 3, log 3, and is undefined for token 5.

    Max over classes: token 0: 1 * 0 = 0; token 1: 1 * log 3; token 2: 1 * log 1.5; token 3: 1 * log 3;
    token 4: 0.625 * log 3; token 5: absent, -inf.
    """
    expected = [0.0, math.log(3), math.log(1.5), math.log(3), 0.625 * math.log(3), -math.inf]
    assert frequency_scores(COUNTS) == pytest.approx(expected)


def test_class_scores_by_hand_with_the_floor_of_one_half():
    """A class without the token still has tf = 0.5: token 1 scores 0.5 log 3 in classes 1 and 2."""
    log3, log15 = math.log(3), math.log(1.5)
    expected = [
        [0.0, log3, 0.625 * log15, 0.5 * log3, 0.5 * log3, -math.inf],
        [0.0, 0.5 * log3, log15, log3, 0.5 * log3, -math.inf],
        [0.0, 0.5 * log3, 0.5 * log15, 0.5 * log3, 0.625 * log3, -math.inf],
    ]
    for row, wanted in zip(class_frequency_scores(COUNTS), expected, strict=True):
        assert row == pytest.approx(wanted)


def test_class_without_documents_gives_numbers():
    """Class 1 is empty: its tf is 0.5 everywhere. Token 0 is in 1 of 2 large documents: idf = log 2, tf = 1."""
    scores = class_frequency_scores(np.array([[3, 0], [0, 0]]))
    assert scores[0] == pytest.approx([math.log(2), -math.inf])
    assert scores[1] == pytest.approx([0.5 * math.log(2), -math.inf])


def test_selection_class_agnostic_and_class_balanced():
    """Class-agnostic top 3: log 3 (token 1), log 3 (token 3), 0.625 log 3 = 0.687 (token 4); token 2 has 0.405.

    Class-balanced, each class choosing among its own tokens: 1, then class 1 takes 3 (log 3), class 2 takes 4.
    In a second round class 0 takes 2 (0.625 log 1.5 = 0.253 beats token 0 with 0) and class 1 is left with 0.
    """
    assert top_tokens(frequency_scores(COUNTS), 3) == [1, 3, 4]
    own = np.where(COUNTS > 0, class_frequency_scores(COUNTS), -np.inf)
    assert top_tokens_by_class(own, 3) == [1, 3, 4]
    assert top_tokens_by_class(own, 5) == [1, 3, 4, 2, 0]


def test_class_balanced_differs_from_class_agnostic():
    """Class 0 has two exclusive tokens, both as frequent as can be; class 1 a rare one.

    counts [[2, 2, 0, 0], [0, 0, 1, 4]]: scores log 2 * (1, 1, 0.625, 1). Agnostic top 2: tokens 0 and 1.
    Balanced top 2: token 0 for class 0, token 3 for class 1.
    """
    counts = np.array([[2, 2, 0, 0], [0, 0, 1, 4]])
    assert top_tokens(frequency_scores(counts), 2) == [0, 1]
    own = np.where(counts > 0, class_frequency_scores(counts), -np.inf)
    assert top_tokens_by_class(own, 2) == [0, 3]


def test_absent_tokens_are_not_divided_by():
    with np.errstate(divide="raise", invalid="raise"):
        assert class_frequency_scores(COUNTS)[0, 5] == -math.inf


def test_scheme_lets_a_class_choose_among_its_own_tokens():
    """Rows of the table above; -inf where the class has no such token, however rare the token is elsewhere."""
    scheme, evidence = FrequencyScheme(), Evidence(lambda: COUNTS)
    log3, log15 = math.log(3), math.log(1.5)
    own = scheme.class_scores(evidence)
    assert own[0] == pytest.approx([0.0, log3, 0.625 * log15, -math.inf, -math.inf, -math.inf])
    assert own[1] == pytest.approx([0.0, -math.inf, log15, log3, -math.inf, -math.inf])
    assert own[2] == pytest.approx([0.0, -math.inf, -math.inf, -math.inf, 0.625 * log3, -math.inf])
    np.testing.assert_array_equal(scheme.scores(evidence), frequency_scores(COUNTS))
    assert scheme.compares_classes
