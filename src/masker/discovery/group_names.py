r"""Names of groups: the words that set a group apart, by class-based TF-IDF (Grootendorst 2022).

.. math::
    w_{tg} = f_{tg} \cdot \log\Bigl(1 + \frac{A}{f_t}\Bigr)

:math:`f_{tg}` is the share of word t among the words of group g, :math:`f_t` its number in all groups, and A the mean
number of words in a group. A term is a word or two words that follow each other. Deviation: a text counts a term once,
so that one long text cannot name a group; and a term that other groups use half as often or more is left out, as are
words of one or two Latin letters, so that hardly a list of stop words is needed, in any language. English ones come
last, for groups of a few texts that share nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from masker.documents.word_spans import word_spans

#: Terms in a name.
NAME_TERMS = 3
#: Terms that are listed.
LISTED_TERMS = 10
#: A term must occur in this share of the texts of a group, and in at least two of them, if it has
LEAST_SHARE = 0.05
#: so many: three texts seldom share a word that says what they are about.
LEAST_TO_SHARE = 4
#: And be so many times as frequent in the group as in all others together.
LEAST_LIFT = 2.0
#: Characters of a text that are read: enough for its words.
READ = 2000


def terms_of(text: str) -> set[str]:
    """The words of a text, and its pairs of words, in lower case."""
    words = [word for word, _, _ in word_spans(text[:READ])]
    return {*filter(_tells, words), *(f"{a} {b}" for a, b in pairwise(words) if _tells(a) and _tells(b))}


def _tells(word: str) -> bool:
    return len(word) > 2 or not word.isascii()


def class_tf_idf(counts: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """(G, T) weights of T terms in G groups from the (G, T) numbers of their occurrences; empty groups have 0."""
    counts = np.asarray(counts, dtype=np.float64)
    sizes = counts.sum(axis=1, keepdims=True)
    return np.asarray(counts / np.maximum(sizes, 1.0) * np.log1p(sizes.mean() / np.maximum(counts.sum(axis=0), 1.0)))


def distinctive_terms(groups: Sequence[Sequence[str]]) -> list[list[str]]:
    """The :data:`LISTED_TERMS` terms with the highest weight in each group of texts, best first."""
    found = [Counter(term for text in texts for term in terms_of(text)) for texts in groups]
    whole, total = sum(found, Counter()), sum(map(len, groups))
    shared = [
        {term for term, count in counter.items() if _distinctive(count, len(texts), whole[term] - count, total)}
        for counter, texts in zip(found, groups, strict=True)
    ]
    vocabulary = sorted(set().union(*shared)) if shared else []
    if not vocabulary:
        return [[] for _ in groups]
    counts = np.array([[counter[term] for term in vocabulary] for counter in found])
    last = np.array([_stops(term) for term in vocabulary])
    return [
        [vocabulary[place] for place in np.lexsort((-row, last)) if vocabulary[place] in kept][:LISTED_TERMS]
        for row, kept in zip(class_tf_idf(counts), shared, strict=True)
    ]


def _stops(term: str) -> bool:
    """Whether a term has an English stop word."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return any(word in ENGLISH_STOP_WORDS for word in term.split())


def _distinctive(inside: int, texts: int, outside: int, total: int) -> bool:
    """Whether a term is frequent in a group of this many texts, and rare in the others."""
    if inside < max(1 if texts < LEAST_TO_SHARE else 2, LEAST_SHARE * texts):
        return False
    return inside / texts >= LEAST_LIFT * outside / max(1, total - texts)


def group_name(terms: Sequence[str], taken: Sequence[str] = ()) -> str:
    """A name of the first terms; words that an earlier term has already are not repeated, nor is a taken name."""
    chosen: list[str] = []
    for term in terms:
        words = set(term.split())
        if not any(words & set(other.split()) for other in chosen):
            chosen.append(term)
        if len(chosen) == NAME_TERMS:
            break
    name = ", ".join(chosen) or "unnamed"
    same = sum(other == name or other.startswith(f"{name} (") for other in taken)
    return f"{name} ({same + 1})" if same else name
