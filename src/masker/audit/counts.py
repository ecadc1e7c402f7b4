"""How often words stand in whole corpora, class by class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from masker.audit.words import Ids, Vocabulary, word_numbers
from masker.documents import Documents
from masker.keywords.frequency import class_token_counts


@dataclass(frozen=True)
class WordCounts:
    """Occurrences of words.

    Attributes:
        names: Of the T classes of all corpora; those of several corpora with the corpus before them.
        counts: (T, V) occurrences in each.
        totals: For each corpus, (V,) occurrences in it.
    """

    names: list[str]
    counts: Ids
    totals: list[Ids]

    def per_million(self, word: int) -> list[float]:
        """For each corpus, the occurrences of a word in a million words."""
        return [round(1e6 * float(total[word]) / max(1, int(total.sum())), 1) for total in self.totals]


def count_words(corpora: Sequence[Documents], vocabulary: Vocabulary) -> WordCounts:
    """Count all words of corpora, in which texts are not cut; new words join the vocabulary. No labels is one class."""
    numbers = [word_numbers(documents, vocabulary) for documents in corpora]
    names, counts = [], []
    for documents, words, corpus in zip(corpora, numbers, _corpus_names(corpora), strict=True):
        classes = documents.class_names or ["all"]
        labels = [classes.index(str(label)) for label in documents.labels or []] if documents.class_names else []
        pairs = zip(words, labels or [0] * len(documents), strict=True)
        counts.append(class_token_counts(pairs, len(classes), len(vocabulary)))
        names += [name if len(corpora) == 1 else f"{corpus}: {name}" for name in classes]
    return WordCounts(names, np.concatenate(counts), [part.sum(axis=0) for part in counts])


def _corpus_names(corpora: Sequence[Documents]) -> list[str]:
    """Names without the folders that files lie in, numbered where they would be the same."""
    names = [Path(documents.name).name for documents in corpora]
    if len(set(names)) == len(names):
        return names
    return [f"{name} ({place})" for place, name in enumerate(names, start=1)]
