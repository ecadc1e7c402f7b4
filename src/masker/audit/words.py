"""The words of documents, the tokens that spell them, and how often they occur.

Keywords of an audit are words, not tokens: people read words, and only words let you compare models with different
tokenizers. What a word is: :mod:`masker.documents.word_spans`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.documents import Documents
from masker.documents.encoding import Encoded
from masker.documents.word_spans import Span, word_spans, words_of_tokens
from masker.keywords.frequency import class_token_counts
from masker.labels import class_indices

Ids = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


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
    rows = [words_of_tokens(encoding, both) for encoding, both in zip(batch.encodings, texts, strict=True)]
    types = batch.get("token_type_ids")
    encoded = Encoded(
        [np.array(ids, dtype=np.int64) for ids in batch["input_ids"]],
        None if types is None else [np.array(row, dtype=np.int64) for row in types],
        None,
        np.arange(len(rows)),
    )
    numbers = [np.array([vocabulary.add(word) for word in row.words], dtype=np.int64) for row in rows]
    return WordedDocuments(encoded, numbers, [row.of_token for row in rows], [row.spans for row in rows])


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
