"""The keyword set: JSON, targets, and positions in a document."""

import json

import numpy as np
import pytest

from masker.errors import ConfigError
from masker.keywords import Keyword, KeywordSet


def keyword_set(*token_ids, source="user", size=20):
    return KeywordSet(source, tuple(Keyword(f"w{ids}", tuple(ids), 0.1 * n) for n, ids in enumerate(token_ids)), size)


def test_length_iteration_and_words_keep_the_ranking():
    keywords = KeywordSet("frequency", (Keyword("b", (4,), 2.0), Keyword("a", (3,), 1.0)), 5)
    assert len(keywords) == 2
    assert [keyword.score for keyword in keywords] == [2.0, 1.0]
    assert keywords.words == ["b", "a"]


def test_json_round_trip_is_exact():
    keywords = KeywordSet("attention", (Keyword("naïve", (7,), 1 / 3), Keyword("new york", (4, 9), 1e-300)), 12)
    assert KeywordSet.from_json(json.loads(keywords.dumps())) == keywords
    assert "naïve" in keywords.dumps()


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"source": "user", "vocabulary_size": 5},
        {"source": "user", "vocabulary_size": 5, "keywords": [{"word": "a"}]},
        {"source": "user", "vocabulary_size": 5, "keywords": ["a"]},
        {"source": "user", "vocabulary_size": "many", "keywords": []},
        {"source": "user", "vocabulary_size": 5, "keywords": [{"word": "a", "token_ids": 3, "score": 1}]},
        {"source": "user", "vocabulary_size": 5, "keywords": [{"word": "a", "token_ids": [3], "score": "high"}]},
    ],
)
def test_foreign_json_is_refused(content):
    with pytest.raises(ConfigError, match="not a saved keyword set"):
        KeywordSet.from_json(content)


@pytest.mark.parametrize("token_ids", [[5], [-1], [0, 99], []])
def test_token_ids_outside_the_vocabulary_are_refused(token_ids):
    rows = [{"word": "a", "token_ids": token_ids, "score": 1.0}]
    with pytest.raises(ConfigError, match="outside its vocabulary of 5"):
        KeywordSet.from_json({"source": "user", "vocabulary_size": 5, "keywords": rows})


def test_find_single_tokens():
    found = keyword_set([4], [9]).find(np.array([[1, 4, 5, 9], [4, 4, 2, 0]]))
    np.testing.assert_array_equal(found, [[False, True, False, True], [True, True, False, False]])


def test_find_phrases_only_as_a_whole():
    """The phrase (4, 9): in 4 9 4 7 9 only the first two match; a 4 not followed by 9 does not, nor does 9 4."""
    found = keyword_set([4, 9]).find(np.array([[4, 9, 4, 7, 9], [9, 4, 1, 1, 4], [1, 1, 1, 4, 9]]))
    np.testing.assert_array_equal(
        found,
        [[True, True, False, False, False], [False] * 5, [False, False, False, True, True]],
    )


def test_find_overlapping_phrases():
    """(4, 4) in 4 4 4 matches at 0 and at 1, which covers all three positions."""
    np.testing.assert_array_equal(keyword_set([4, 4]).find(np.array([4, 4, 4, 5])), [True, True, True, False])


def test_find_longer_phrase_needs_every_piece():
    phrase = keyword_set([3, 4, 5])
    np.testing.assert_array_equal(phrase.find(np.array([3, 4, 6, 3, 4, 5])), [False] * 3 + [True] * 3)


def test_find_phrase_longer_than_the_document():
    np.testing.assert_array_equal(keyword_set([3, 4, 5], [4]).find(np.array([[3, 4]])), [[False, True]])


def test_find_does_not_let_a_phrase_run_over_into_the_next_row():
    np.testing.assert_array_equal(keyword_set([4, 9]).find(np.array([[1, 4], [9, 1]])), [[False, False]] * 2)


def test_find_leaves_the_input_alone():
    ids = np.array([[4, 9, 2]])
    keyword_set([4], [9, 2]).find(ids)
    np.testing.assert_array_equal(ids, [[4, 9, 2]])


def test_targets_are_the_distinct_tokens_of_all_keywords():
    keywords = keyword_set([9], [4, 2], [4], source="user", size=11)
    np.testing.assert_array_equal(keywords.target_ids, [2, 4, 9])
    np.testing.assert_array_equal(keywords.target_index, [-100, -100, 0, -100, 1] + [-100] * 4 + [2, -100])


def test_target_index_inverts_target_ids():
    keywords = keyword_set([17], [3], [8], source="attention")
    np.testing.assert_array_equal(keywords.target_index[keywords.target_ids], [0, 1, 2])


def test_random_keywords_are_reconstructed_over_the_whole_vocabulary():
    keywords = keyword_set([17], [3], source="random", size=20)
    np.testing.assert_array_equal(keywords.target_ids, np.arange(20))
    np.testing.assert_array_equal(keywords.target_index, np.arange(20))
