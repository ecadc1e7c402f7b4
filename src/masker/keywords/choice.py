"""From scores to a :class:`KeywordSet`: the top K over all classes, or K/C per class."""

from __future__ import annotations

import string
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.errors import ConfigError
from masker.keywords.keyword_set import Keyword, KeywordSet
from masker.keywords.scheme import Scores


def top_tokens(scores: Scores, count: int, excluded: Iterable[int] = ()) -> list[int]:
    """The ``count`` tokens with the highest (V,) scores; ties go to the lower token id."""
    return top_tokens_by_class(scores[None, :], count, excluded)


def top_tokens_by_class(scores: Scores, count: int, excluded: Iterable[int] = ()) -> list[int]:
    """K/C tokens for each class from (C, V) scores; −inf marks tokens absent from a class.

    Classes take turns, each picking its best token not picked before, until there are K. So the set has K *different*
    tokens, K/C from each class (one more from the first classes if C does not divide K).
    """
    allowed = _candidates(scores, excluded)
    available = int(allowed.sum())
    if count > available:
        raise ConfigError(
            f"the number of keywords must be at most {available}, the candidate tokens of this corpus; got {count}. "
            "Lower keywords.count or keywords.per_class, or exclude fewer words"
        )
    # A stable sort of the negated scores keeps ties in token-id order.
    rankings = [iter(np.argsort(-row, kind="stable")[: np.isfinite(row).sum()]) for row in scores]
    chosen: list[int] = []
    taken = ~allowed
    while len(chosen) < count:
        for ranking in rankings:
            best = next((int(token) for token in ranking if not taken[token]), None)
            if best is not None and len(chosen) < count:
                taken[best] = True
                chosen.append(best)
    return chosen


def candidate_count(scores: Scores, excluded: Iterable[int] = ()) -> int:
    """How many tokens can become keywords."""
    return int(_candidates(np.atleast_2d(scores), excluded).sum())


def _candidates(scores: Scores, excluded: Iterable[int]) -> npt.NDArray[np.bool_]:
    allowed: npt.NDArray[np.bool_] = np.asarray(np.isfinite(scores).any(axis=0))
    allowed[list(excluded)] = False
    return allowed


def select_keywords(
    source: str, scores: Scores, count: int, tokenizer: Any, *, excluded: Iterable[int] = ()
) -> KeywordSet:
    """Select K keywords from (V,) scores, or class-balanced from (C, V) scores."""
    scores = np.atleast_2d(scores)
    best = scores.max(axis=0)
    ranked = sorted(top_tokens_by_class(scores, count, excluded), key=lambda token: (-best[token], token))
    keywords = tuple(Keyword(token_word(tokenizer, token), (token,), float(best[token])) for token in ranked)
    return KeywordSet(source, keywords, len(best))


def token_word(tokenizer: Any, token_id: int) -> str:
    """A token as readable text; word pieces keep their ``##`` to set them apart from whole words."""
    token = str(tokenizer.convert_ids_to_tokens(int(token_id)))
    if token.startswith("##"):
        return token
    return str(tokenizer.convert_tokens_to_string([token])).strip() or token


def excluded_tokens(tokenizer: Any, *, stop_words: bool = False, punctuation: bool = False) -> set[int]:
    """Token ids that cannot become keywords: special tokens always, stop words and punctuation on request.

    Stop words are scikit-learn's English list; punctuation is any token without a letter or digit.
    """
    excluded = set(tokenizer.all_special_ids)
    if not (stop_words or punctuation):
        return excluded
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    for token_id in range(len(tokenizer)):
        word = token_word(tokenizer, token_id).removeprefix("##").lower()
        if (stop_words and word in ENGLISH_STOP_WORDS) or (
            punctuation and not any(character.isalnum() for character in word.strip(string.punctuation))
        ):
            excluded.add(token_id)
    return excluded
