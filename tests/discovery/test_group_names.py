"""Names from words."""

from __future__ import annotations

import math

import numpy as np
import pytest

from masker.discovery.group_names import class_tf_idf, distinctive_terms, group_name, terms_of


def test_class_tf_idf_by_hand():
    """Two groups of 4 and 2 words: A = 3. Term 0 occurs 3 times in the first, 1 in the second: f = 4.

    w_00 = 3/4 log(1 + 3/4), w_01 = 1/4 log(1 + 3/2), w_10 = 1/2 log(1 + 3/4), w_11 = 1/2 log(1 + 3/2).
    """
    weights = class_tf_idf(np.array([[3, 1], [1, 1]]))
    rare, common = math.log(2.5), math.log(1.75)
    np.testing.assert_allclose(weights, [[0.75 * common, 0.25 * rare], [0.5 * common, 0.5 * rare]])


def test_terms_are_words_and_pairs_of_words():
    assert terms_of("Book a flight now") == {"book", "flight", "now", "flight now"}
    assert "本" in terms_of("日本")


def test_words_of_all_groups_name_none():
    groups = [["please book a flight", "please book the flight"], ["please play music", "please play some music"]]
    first, second = distinctive_terms(groups)
    assert "please" not in first + second
    assert {"book", "flight"} <= set(first) and {"play", "music"} <= set(second)


def test_stop_words_come_last():
    """Two texts share "for" alone: what is said in one of them says more."""
    [terms] = distinctive_terms([["apply for jobs", "work for you"]])
    assert terms == ["apply", "jobs", "work", "for", "apply for", "for jobs", "for you", "work for", "you"]
    [many] = distinctive_terms([["apply for jobs", "jobs for me", "jobs for all", "the jobs"]])
    assert many == ["jobs", "for", "jobs for"], "of four texts, two must have a term; of two, one"


def test_no_text_no_term():
    assert distinctive_terms([]) == []
    assert distinctive_terms([["a b"], ["c"]]) == [[], []]


@pytest.mark.parametrize(
    ("terms", "taken", "name"),
    [
        (["book flight", "book", "flight", "seat", "plane", "trip"], [], "book flight, seat, plane"),
        ([], [], "unnamed"),
        ([], ["unnamed"], "unnamed (2)"),
        (["seat"], ["seat", "seat (2)"], "seat (3)"),
    ],
)
def test_names(terms, taken, name):
    assert group_name(terms, taken) == name
