"""From scores to keywords: ranking, class balance, names and exclusions."""

import numpy as np
import pytest

from masker.errors import ConfigError
from masker.keywords.choice import (
    candidate_count,
    excluded_tokens,
    select_keywords,
    token_word,
    top_tokens,
    top_tokens_by_class,
)

# --- ranking ---------------------------------------------------------------------------------------------------------


def test_top_k_by_score():
    assert top_tokens(np.array([0.1, 0.9, -np.inf, 0.5, 0.7]), 3) == [1, 4, 3]


def test_equal_scores_go_by_token_id():
    assert top_tokens(np.array([0.5, 0.9, 0.5, 0.9, 0.5]), 4) == [1, 3, 0, 2]


def test_ties_among_many_tokens_go_by_token_id():
    scores = np.random.default_rng(0).integers(0, 4, size=5000).astype(float)
    expected = sorted(range(5000), key=lambda token: (-scores[token], token))
    assert top_tokens(scores, 3000) == expected[:3000]


def test_excluded_tokens_are_passed_over():
    assert top_tokens(np.array([0.1, 0.9, 0.3, 0.5]), 2, excluded={1, 2}) == [3, 0]


def test_negative_scores_can_be_chosen():
    assert top_tokens(np.array([-3.0, -1.0, -2.0]), 2) == [1, 2]


def test_more_keywords_than_candidates_names_both_numbers():
    scores = np.array([0.1, 0.9, -np.inf, 0.5])
    with pytest.raises(ConfigError, match=r"at most 2,.*got 3") as caught:
        top_tokens(scores, 3, excluded={0})
    assert "\n" not in str(caught.value)
    assert top_tokens(scores, 2, excluded={0}) == [1, 3]


def test_class_balanced_shares():
    """K = 4, C = 2. Class 0 ranks 0, 1, 2; class 1 ranks 0, 3, 4. They take turns: 0; 3 (0 is taken); 1; 4."""
    scores = np.array([[9.0, 8.0, 7.0, -np.inf, -np.inf], [9.5, -np.inf, -np.inf, 2.0, 1.0]])
    assert top_tokens_by_class(scores, 4) == [0, 3, 1, 4]


def test_class_balanced_remainder_goes_to_the_first_classes():
    scores = np.array([[5.0, 4.0, 3.0, -np.inf, -np.inf], [-np.inf, -np.inf, -np.inf, 2.0, 1.0]])
    assert top_tokens_by_class(scores, 3) == [0, 3, 1]


def test_class_that_runs_out_leaves_its_turn_to_the_others():
    scores = np.array([[5.0, 4.0, 3.0, 2.0, -np.inf], [-np.inf] * 4 + [1.0]])
    assert top_tokens_by_class(scores, 5) == [0, 4, 1, 2, 3]


def test_class_balanced_too_many():
    with pytest.raises(ConfigError, match=r"at most 3,.*got 4"):
        top_tokens_by_class(np.array([[1.0, 2.0, -np.inf, -np.inf], [-np.inf, 1.0, -np.inf, 3.0]]), 4)


# --- keyword sets ----------------------------------------------------------------------------------------------------


def test_select_keywords_names_and_ranks(wordpiece):
    apple, tree = wordpiece.convert_tokens_to_ids(["apple", "tree"])
    scores = np.full(len(wordpiece), -np.inf)
    scores[[apple, tree]] = [0.25, 0.75]
    keywords = select_keywords("frequency", scores, 2, wordpiece)
    assert keywords.source == "frequency"
    assert [(k.word, k.token_ids, k.score) for k in keywords] == [("tree", (tree,), 0.75), ("apple", (apple,), 0.25)]
    assert keywords.vocabulary_size == len(wordpiece)


def test_select_keywords_class_balanced_carries_the_best_score(wordpiece):
    """Class 1 has apple with 0.1 first in its turn; over both classes its best score is 0.3, tree's 0.9."""
    apple, tree, watch = wordpiece.convert_tokens_to_ids(["apple", "tree", "watch"])
    scores = np.full((2, len(wordpiece)), -np.inf)
    scores[0, [tree, watch, apple]] = [0.9, 0.8, 0.3]
    scores[1, apple] = 0.1
    keywords = select_keywords("frequency", scores, 2, wordpiece)
    assert [(k.token_ids, k.score) for k in keywords] == [((tree,), 0.9), ((apple,), 0.3)]


def test_words_as_a_person_reads_them(wordpiece, bpe, unigram):
    assert token_word(wordpiece, wordpiece.convert_tokens_to_ids("apple")) == "apple"
    piece = next(token for token in wordpiece.get_vocab() if token.startswith("##"))
    assert token_word(wordpiece, wordpiece.convert_tokens_to_ids(piece)) == piece
    assert token_word(bpe, bpe.convert_tokens_to_ids("Ġapple")) == "apple"
    assert token_word(unigram, unigram.convert_tokens_to_ids("▁apple")) == "apple"


def test_space_token_still_has_a_name(bpe):
    assert token_word(bpe, bpe.convert_tokens_to_ids("Ġ")) == "Ġ"


# --- exclusions ------------------------------------------------------------------------------------------------------


def test_special_tokens_are_always_excluded(wordpiece):
    assert excluded_tokens(wordpiece) == set(wordpiece.all_special_ids)
    assert len(wordpiece.all_special_ids) == 5


@pytest.mark.parametrize("kind", ["wordpiece", "bpe", "unigram"])
def test_stop_words_and_punctuation(kind, request):
    tokenizer = request.getfixturevalue(kind)
    by_word = {}
    for token_id in range(len(tokenizer)):
        by_word.setdefault(token_word(tokenizer, token_id).lower(), set()).add(token_id)
    stop = excluded_tokens(tokenizer, stop_words=True)
    marks = excluded_tokens(tokenizer, punctuation=True)
    both = excluded_tokens(tokenizer, stop_words=True, punctuation=True)
    assert set(tokenizer.all_special_ids) <= stop & marks
    assert by_word["a"] <= stop - marks
    assert by_word["!"] <= marks - stop
    assert by_word["apple"].isdisjoint(both)
    assert both == stop | marks


def test_select_keywords_honours_exclusions(wordpiece):
    scores = np.arange(len(wordpiece), dtype=float)
    scores[wordpiece.convert_tokens_to_ids("the")] = scores[wordpiece.mask_token_id] = 1e6
    words = select_keywords(
        "frequency", scores, 3, wordpiece, excluded=excluded_tokens(wordpiece, stop_words=True)
    ).words
    assert not {"the", "[MASK]"} & set(words)


def test_candidates_are_tokens_with_a_score_that_are_not_excluded():
    scores = np.array([[1.0, -np.inf, -np.inf, 2.0], [-np.inf, 3.0, -np.inf, 1.0]])
    assert candidate_count(scores) == 3 and candidate_count(scores, [3]) == 2
    assert candidate_count(scores[0]) == 2
