"""The words of a text, and the tokens that spell them.

A word is a run of text between spaces and punctuation; in scripts without spaces, every character is one. Words are
compared in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]
#: Where a word is: text 0 or text pair 1, first character, one past the last.
Span = tuple[int, int, int]

#: ``word_of_token`` of tokens outside words: punctuation, and special tokens.
PUNCTUATION, SPECIAL = -1, -2

#: Chinese and Japanese characters, which are written without spaces between words.
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
#: Spaces and punctuation except apostrophes. ``\W`` would split words in scripts that write vowels as marks.
_BETWEEN = r"\s!-&(-/:-@\[-`{-¿×÷।॥،؛؟\u2000-\u2018\u201a-\u206f\u2e00-\u2e7f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20"
_WORD = re.compile(f"[{_IDEOGRAPHS}]|[^{_BETWEEN}{_IDEOGRAPHS}]+")


def word_spans(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of a text in lower case, each with its start and end."""
    for match in _WORD.finditer(text):
        bare = match.group().strip("'’")
        if bare and any(character.isalnum() for character in bare):
            start = match.start() + match.group().index(bare)
            yield bare.lower().replace("’", "'"), start, start + len(bare)


class TokenWords(NamedTuple):
    """The W words that a row of T tokens spells."""

    words: list[str]  # (W,) in lower case
    spans: list[Span]  # (W,)
    of_token: Ids  # (T,) a position in ``words``, PUNCTUATION or SPECIAL


def words_of_tokens(encoding: Any, texts: Sequence[str | None]) -> TokenWords:
    """The words of one row, which the ``tokenizers`` library made of a text and, for pairs, a second text."""
    offsets = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
    sequence = np.array([-1 if part is None else part for part in encoding.sequence_ids], dtype=np.int64)
    sequence[np.array(encoding.special_tokens_mask, dtype=bool)] = -1
    of_token = np.where(sequence < 0, SPECIAL, PUNCTUATION)
    words: list[str] = []
    spans: list[Span] = []
    for part, text in enumerate(texts):
        inside = np.flatnonzero(sequence == part)
        found = list(word_spans(text[: int(offsets[inside, 1].max())])) if text is not None and len(inside) else []
        if not found:
            continue
        starts, ends = (np.array([word[side] for word in found]) for side in (1, 2))
        # A token belongs to the first word it overlaps.
        place = np.searchsorted(ends, offsets[inside, 0], side="right")
        hits = (place < len(found)) & (starts[np.minimum(place, len(found) - 1)] < offsets[inside, 1])
        seen, compact = np.unique(place[hits], return_inverse=True)
        of_token[inside[hits]] = compact + len(words)
        words += [found[word][0] for word in seen]
        spans += [(part, found[word][1], found[word][2]) for word in seen]
    return TokenWords(words, spans, of_token)
