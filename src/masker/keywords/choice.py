"""From scores to a :class:`KeywordSet`: top K over all classes, or K/C for each class."""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.errors import ConfigError
from masker.keywords.keyword_set import Keyword, KeywordSet

Scores = npt.NDArray[np.float64]


def top_tokens(scores: Scores, count: int, excluded: Iterable[int] = ()) -> list[int]:
    """The ``count`` tokens with the highest (V,) scores; of equal ones the lower id comes first.

    Raises:
        ConfigError: When fewer than ``count`` tokens can be chosen at all.
    """
    return top_tokens_by_class(scores[None, :], count, excluded)


def top_tokens_by_class(scores: Scores, count: int, excluded: Iterable[int] = ()) -> list[int]:
    """K/C tokens for each class of (C, V) scores; −inf marks tokens that a class does not have.

    Classes take turns, each taking its best token that no class has yet, until K are taken. So the set has K
    *different* tokens, and each class has K/C of them (one more for the first classes when C does not divide K).
    """
    allowed: npt.NDArray[np.bool_] = np.asarray(np.isfinite(scores).any(axis=0))
    allowed[list(excluded)] = False
    available = int(allowed.sum())
    if count > available:
        raise ConfigError(
            f"the number of keywords must be at most {available}, the candidate tokens of this corpus; got {count}. "
            "Lower keywords.count or keywords.per_class, or exclude fewer words"
        )
    # A stable sort of the negated scores keeps ties in the order of token ids.
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


def select_keywords(
    source: str,
    scores: Scores,
    count: int,
    tokenizer: Any,
    *,
    excluded: Iterable[int] = (),
) -> KeywordSet:
    """Choose K keywords from (V,) scores, or class-balanced from (C, V) scores, and name them."""
    token_ids = top_tokens_by_class(np.atleast_2d(scores), count, excluded)
    best = scores.max(axis=0) if scores.ndim == 2 else scores
    token_ids.sort(key=lambda token_id: (-best[token_id], token_id))
    keywords = tuple(
        Keyword(token_word(tokenizer, token_id), (token_id,), float(best[token_id])) for token_id in token_ids
    )
    return KeywordSet(source, keywords, len(best))


def token_word(tokenizer: Any, token_id: int) -> str:
    """A token as a person reads it; word pieces keep their ``##`` so that they can be told from words."""
    token = str(tokenizer.convert_ids_to_tokens(int(token_id)))
    if token.startswith("##"):
        return token
    return str(tokenizer.convert_tokens_to_string([token])).strip() or token


def excluded_tokens(tokenizer: Any, *, stop_words: bool = False, punctuation: bool = False) -> set[int]:
    """Token ids that may not become keywords: special tokens always, the others by option.

    Stop words are scikit-learn's English list; a token counts as punctuation when it has no letter and no digit.
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


def keywords_from_words(words: Sequence[str], tokenizer: Any) -> KeywordSet:
    """A set from the user's own words.

    A word is looked for as given, in lower case and capitalised, at the start of a text and behind a space (byte-level
    and unigram tokenizers write these differently). A word that the tokenizer cuts into pieces is a phrase: it is
    found only where all its pieces stand together.

    Raises:
        ConfigError: When the list is empty or a word is unknown to the tokenizer.
    """
    keywords: list[Keyword] = []
    seen: set[tuple[int, ...]] = set()
    unknown_id = tokenizer.unk_token_id
    for word in dict.fromkeys(word.strip() for word in words if word.strip()):
        forms = dict.fromkeys(
            tuple(tokenizer.encode(space + variant, add_special_tokens=False))
            for variant in (word, word.lower(), word.capitalize())
            for space in ("", " ")
        )
        usable = [form for form in forms if form and unknown_id not in form]
        if not usable:
            raise ConfigError(f"keyword '{word}' is unknown to the tokenizer of this backbone; remove or respell it")
        keywords += [Keyword(word, form, 1.0) for form in usable if form not in seen]
        seen.update(usable)
    if not keywords:
        raise ConfigError("the list of keywords is empty; give one word a line")
    return KeywordSet("user", tuple(keywords), len(tokenizer))
