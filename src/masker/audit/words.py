"""The words of documents, the tokens that spell them, and how often they occur.

Keywords of an audit are words, not tokens: people read words, and only words let you compare models with different
tokenizers. A word is a run of text between spaces and punctuation; in scripts without spaces, every character is one.
Words are compared in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.documents import Documents
from masker.documents.encoding import Encoded
from masker.keywords.frequency import class_token_counts
from masker.labels import class_indices

Ids = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
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


class Vocabulary:
    """Numbers for words, in order of first appearance."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._place: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.words)

    def add(self, word: str) -> int:
        """The number of a word; a new word gets the next one."""
        place = self._place.setdefault(word, len(self.words))
        if place == len(self.words):
            self.words.append(word)
        return place

    def find(self, word: str) -> int | None:
        return self._place.get(word)

    def stop_words(self) -> Flags:
        """(V,) true for words in scikit-learn's English stop-word list."""
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return np.array([word in ENGLISH_STOP_WORDS for word in self.words], dtype=bool)


@dataclass(frozen=True)
class WordedDocuments:
    """Encoded documents and the words in them, up to the length that the model reads; one entry a row."""

    encoded: Encoded
    words: list[Ids]  # (W,) vocabulary numbers, in order
    word_of_token: list[Ids]  # (T,) the word each token belongs to: a position in `words`, PUNCTUATION or SPECIAL
    spans: list[list[Span]]  # where the words are

    def __len__(self) -> int:
        return len(self.words)


def read_words(tokenizer: Any, documents: Documents, max_length: int, vocabulary: Vocabulary) -> WordedDocuments:
    """Encode documents, truncated to ``max_length`` tokens, and find their words; adds new ones to the vocabulary."""
    batch = tokenizer(
        documents.texts,
        documents.pairs,
        truncation=True,
        max_length=max_length,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
    )
    pairs: Sequence[str | None] = documents.pairs or [None] * len(documents)
    texts = zip(documents.texts, pairs, strict=True)
    rows = [_read_row(encoding, both, vocabulary) for encoding, both in zip(batch.encodings, texts, strict=True)]
    types = batch.get("token_type_ids")
    encoded = Encoded(
        [np.array(ids, dtype=np.int64) for ids in batch["input_ids"]],
        None if types is None else [np.array(row, dtype=np.int64) for row in types],
        None,
        np.arange(len(rows)),
    )
    return WordedDocuments(encoded, [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])


def _read_row(encoding: Any, texts: Sequence[str | None], vocabulary: Vocabulary) -> tuple[Ids, Ids, list[Span]]:
    """Words, word of each token, and spans of one document."""
    offsets = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
    sequence = np.array([-1 if part is None else part for part in encoding.sequence_ids], dtype=np.int64)
    sequence[np.array(encoding.special_tokens_mask, dtype=bool)] = -1
    of_token = np.where(sequence < 0, SPECIAL, PUNCTUATION)
    words: list[int] = []
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
        words += [vocabulary.add(found[word][0]) for word in seen]
        spans += [(part, found[word][1], found[word][2]) for word in seen]
    return np.array(words, dtype=np.int64), of_token, spans


def word_numbers(documents: Documents, vocabulary: Vocabulary) -> list[Ids]:
    """The words of whole, untruncated documents as vocabulary numbers; adds new ones to the vocabulary."""
    pairs: Sequence[str] = documents.pairs or [""] * len(documents)
    return [
        np.array([vocabulary.add(word) for part in both for word, _, _ in word_spans(part)], dtype=np.int64)
        for both in zip(documents.texts, pairs, strict=True)
    ]


@dataclass(frozen=True)
class WordCounts:
    """How often words occur."""

    names: list[str]  # the T classes of all corpora, prefixed with the corpus if there are several
    counts: Ids  # (T, V) occurrences in each class
    totals: list[Ids]  # for each corpus, (V,) occurrences in it

    def per_million(self, word: int) -> list[float]:
        """Occurrences of a word per million words of each corpus."""
        return [round(1e6 * float(total[word]) / max(1, int(total.sum())), 1) for total in self.totals]


def count_words(corpora: Sequence[Documents], vocabulary: Vocabulary) -> WordCounts:
    """Count the words of untruncated corpora by class; a corpus without labels is one class, ``all``."""
    # Every corpus may add words, so all are read before any is counted.
    numbers = [word_numbers(documents, vocabulary) for documents in corpora]
    names, counts = [], []
    for documents, words, corpus in zip(corpora, numbers, _corpus_names(corpora), strict=True):
        classes = documents.class_names
        labels = class_indices(documents.labels or [], classes).tolist() if classes else [0] * len(documents)
        classes = classes or ["all"]
        counts.append(class_token_counts(zip(words, labels, strict=True), len(classes), len(vocabulary)))
        names += [name if len(corpora) == 1 else f"{corpus}: {name}" for name in classes]
    return WordCounts(names, np.concatenate(counts), [part.sum(axis=0) for part in counts])


def _corpus_names(corpora: Sequence[Documents]) -> list[str]:
    """File names without their folders, numbered if they are equal."""
    names = [Path(documents.name).name for documents in corpora]
    if len(set(names)) == len(names):
        return names
    return [f"{name} ({place})" for place, name in enumerate(names, start=1)]
