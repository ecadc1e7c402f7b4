"""Occlusion: scores, candidate words and single occlusions, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from masker.audit.occlusion import association, candidate_words, document_counts, occlude, occlusion_scores
from masker.documents import Documents


def test_scores_are_sums_of_drops():
    """Word 0 is tried in two documents of class 0 (drops 0.5 and 0.25) and in one of class 1 (−0.1); word 2 in one."""
    found = occlusion_scores(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 2]), np.array([0.5, 0.25, -0.1, 0.3]), 2, 3)
    assert found.tolist() == [[0.75, -np.inf, -np.inf], [pytest.approx(-0.1), -np.inf, pytest.approx(0.3)]]


def test_a_document_counts_once_for_each_word():
    words = [np.array([0, 0, 1]), np.array([1]), np.array([], dtype=np.int64)]
    assert document_counts(words, np.array([1, 0, 0]), 2, 3).tolist() == [[0, 1, 0], [1, 1, 0]]


def test_association_by_hand():
    """Of 4 documents assigned to A 3 have the word, of 6 others 1: p_A = 3/4, p_¬A = 1/6, p = 4/10.

    z_A = (3/4 − 1/6) / sqrt(0.4 · 0.6 · (1/4 + 1/6)) = 0.58333 / sqrt(0.1) = 1.84466, and with two classes z_B = −z_A.
    A word in every document says nothing.
    """
    found = association(np.array([[3, 4], [1, 6]]), np.array([4, 6]))
    assert found == pytest.approx(np.array([[1.84466, 0.0], [-1.84466, 0.0]]), abs=1e-5)


def test_association_with_an_empty_class_is_a_number():
    found = association(np.array([[2, 0], [0, 0]]), np.array([3, 0]))
    assert found.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_candidates_are_in_enough_documents_and_associated_with_the_class():
    """Word 0 is associated with class 0, word 1 with class 1, word 2 with none; word 3 is in one document only."""
    counts = np.array([[5, 1, 3, 1], [1, 4, 3, 0]])
    sizes = np.array([6, 6])
    assert candidate_words(counts, sizes, 3, 2).tolist() == [[True, False, False, False], [False, True, False, False]]
    assert candidate_words(counts, sizes, 3, 1).tolist() == [[True, False, False, True], [False, True, False, False]]
    assert candidate_words(counts, sizes, 1, 1)[0].tolist() == [True, False, False, False], "the best first"


def test_a_word_alone_is_hidden_wherever_it_occurs(answered_topics):
    """Three rockets at weight 1 speak for space; without them all classes are equal: the drop is p − 1/3."""
    documents = Documents(["rocket the rocket of rocket", "soup"], None, ["space", "food"], "d")
    model, answered, vocabulary = answered_topics({"rocket": {"space": 1.0}, "soup": {"food": 1.0}}, documents)
    sure = np.exp(3) / (np.exp(3) + 2)
    assert answered.confidences[0] == pytest.approx(sure)
    wanted = np.zeros((3, len(vocabulary)), dtype=bool)
    wanted[:, [vocabulary.find("rocket"), vocabulary.find("the")]] = True
    found = occlude(model, answered, wanted)
    assert [vocabulary.words[word] for word in found.words] == ["rocket", "the"]
    assert found.rows.tolist() == [0, 0]
    assert found.drops == pytest.approx([sure - 1 / 3, 0.0], abs=1e-6)
    assert found.flipped.tolist() == [True, False], "of equal classes the first wins, which is food"


def test_nothing_to_try_is_no_error(answered_topics):
    model, answered, vocabulary = answered_topics()
    found = occlude(model, answered, np.zeros((3, len(vocabulary)), dtype=bool))
    assert len(found.rows) == len(found.drops) == len(found.flipped) == 0
