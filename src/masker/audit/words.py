"""The words of documents and the tokens that spell them.

Keywords are words here, not tokens: a person reads words, and two models with different tokenizers can be compared only
by them. A word is a stretch of text between spaces and punctuation; in scripts without spaces it is one character.
Words are compared in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.documents import Documents
from masker.documents.encoding import Encoded

Ids = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: Chinese and Japanese characters, which stand for words without spaces between them.
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
#: Spaces and punctuation, apostrophes excepted. ``\W`` would cut words of scripts that write vowels as marks.
_BETWEEN = r"\s!-&(-/:-@\[-`{-¿×÷।॥،؛؟\u2000-\u2018\u201a-\u206f\u2e00-\u2e7f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20"
_WORD = re.compile(f"[{_IDEOGRAPHS}]|[^{_BETWEEN}{_IDEOGRAPHS}]+")


def word_spans(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of a text in lower case, each with its first character and the one behind its last."""
    for match in _WORD.finditer(text):
        bare = match.group().strip("'’")
        if bare and any(character.isalnum() for character in bare):
            start = match.start() + match.group().index(bare)
            yield bare.lower().replace("’", "'"), start, start + len(bare)


class Vocabulary:
    """Numbers for words, given in the order in which they are met."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._place: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.words)

    def add(self, word: str) -> int:
        """The number of a word, a new one if need be."""
        place = self._place.setdefault(word, len(self.words))
        if place == len(self.words):
            self.words.append(word)
        return place

    def find(self, word: str) -> int | None:
        """The number of a word, or ``None``."""
        return self._place.get(word)

    def stop_words(self) -> Flags:
        """(V,) true for the words of scikit-learn's English list."""
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return np.array([word in ENGLISH_STOP_WORDS for word in self.words], dtype=bool)


@dataclass(frozen=True)
class WordedDocuments:
    """Encoded documents and the words that a model sees of them: what lies beyond its length is not there.

    Attributes:
        encoded: The rows of tokens.
        words: For each row, the vocabulary numbers of its words in their order, (W,).
        word_of_token: For each row, which of its words each token belongs to, (T,); −1 for punctuation, −2 for special
            tokens.
        spans: For each row, where its words stand: (text 0 or text pair 1, start, end).
    """

    encoded: Encoded
    words: list[Ids]
    word_of_token: list[Ids]
    spans: list[list[tuple[int, int, int]]]

    def __len__(self) -> int:
        return len(self.words)


def read_words(tokenizer: Any, documents: Documents, max_length: int, vocabulary: Vocabulary) -> WordedDocuments:
    """Encode documents, cut at ``max_length`` tokens, and find their words; new ones join the vocabulary."""
    batch = tokenizer(
        documents.texts,
        documents.pairs,
        truncation=True,
        max_length=max_length,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
    )
    words: list[Ids] = []
    word_of_token: list[Ids] = []
    spans: list[list[tuple[int, int, int]]] = []
    for row, encoding in enumerate(batch.encodings):
        offsets = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
        sequence = np.array([-1 if part is None else part for part in encoding.sequence_ids], dtype=np.int64)
        sequence[np.array(encoding.special_tokens_mask, dtype=bool)] = -1
        of_token = np.where(sequence < 0, -2, -1)
        row_words: list[int] = []
        row_spans: list[tuple[int, int, int]] = []
        for part, texts in enumerate((documents.texts, documents.pairs)):
            inside = np.flatnonzero(sequence == part)
            if texts is None or not len(inside):
                continue
            found = list(word_spans(texts[row][: int(offsets[inside, 1].max())]))
            if not found:
                continue
            starts, ends = (np.array([word[side] for word in found]) for side in (1, 2))
            # A token belongs to the first word it overlaps with.
            place = np.searchsorted(ends, offsets[inside, 0], side="right")
            hits = (place < len(found)) & (starts[np.minimum(place, len(found) - 1)] < offsets[inside, 1])
            seen, compact = np.unique(place[hits], return_inverse=True)
            of_token[inside[hits]] = compact + len(row_words)
            row_words += [vocabulary.add(found[word][0]) for word in seen]
            row_spans += [(part, found[word][1], found[word][2]) for word in seen]
        words.append(np.array(row_words, dtype=np.int64))
        word_of_token.append(of_token)
        spans.append(row_spans)
    types = batch.get("token_type_ids")
    encoded = Encoded(
        [np.array(ids, dtype=np.int64) for ids in batch["input_ids"]],
        None if types is None else [np.array(row, dtype=np.int64) for row in types],
        None,
        np.arange(len(words)),
    )
    return WordedDocuments(encoded, words, word_of_token, spans)


def word_numbers(documents: Documents, vocabulary: Vocabulary) -> list[Ids]:
    """The words of whole documents as vocabulary numbers, whatever a model would see of them."""
    pairs: Sequence[str] = documents.pairs or [""] * len(documents)
    return [
        np.array([vocabulary.add(word) for part in both for word, _, _ in word_spans(part)], dtype=np.int64)
        for both in zip(documents.texts, pairs, strict=True)
    ]
