r"""Occlusion scores: which words a model's answers depend on.

.. math::
    s^{occ}_c(w) = \sum_{x : \hat y(x) = c,\ w \in x} \bigl[ f_c(x) - f_c(x - w) \bigr]

f_c(x) is the probability of class c for document x, ŷ(x) the class that the model gives to x, and x − w the document
with every occurrence of word w masked. The sum over documents makes a word count for how often it matters and how much,
as the sum of Eq. 2 of the paper does with attention. Attention says where a model looks, which is mostly at
function words and punctuation; occlusion says what its answer hangs on. Not in the paper.

A pass for each word of each document would be dear, so only words that go with a class are tried. A word on which the
model leans for class c stands in more of the documents that it calls c than of the others, by

.. math::
    z_c(w) = \frac{p_c - p_{\neg c}}{\sqrt{p (1 - p) (1 / n_c + 1 / n_{\neg c})}}

where p_c is the share of the n_c documents called c that have w, p_¬c that of the others, and p that of all.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from masker.audit.words import Flags, Ids

Floats = npt.NDArray[np.float64]


def document_counts(words: list[Ids], classes: Ids, n_classes: int, vocabulary_size: int) -> Ids:
    """(C, V) documents of each class that have each word."""
    counts = np.zeros((n_classes, vocabulary_size), dtype=np.int64)
    for row, label in zip(words, classes, strict=True):
        counts[label, np.unique(row)] += 1
    return counts


def association(counts: Ids, sizes: Ids) -> Floats:
    """z_c(w) of the equation above.

    Args:
        counts: (C, V) documents of each class that have each word.
        sizes: (C,) documents of each class.

    Returns:
        (C, V) scores; 0 where a class is empty or has all documents, or a word stands in none or in all of them.
    """
    total = counts.sum(axis=0)  # (V,)
    rest = sizes.sum() - sizes  # (C,)
    share = counts / np.maximum(sizes, 1)[:, None]
    others = (total - counts) / np.maximum(rest, 1)[:, None]
    overall = total / max(1, int(sizes.sum()))
    spread = overall * (1 - overall) * (1 / np.maximum(sizes, 1) + 1 / np.maximum(rest, 1))[:, None]
    usable = (spread > 0) & ((sizes > 0) & (rest > 0))[:, None]
    return np.asarray(np.where(usable, (share - others) / np.sqrt(np.where(usable, spread, 1.0)), 0.0))


def candidate_words(counts: Ids, sizes: Ids, per_class: int, minimum_documents: int) -> Flags:
    """(C, V) true for the words of each class that are worth trying: those with the highest z, which is above 0.

    Args:
        counts: (C, V) documents of each class that have each word.
        sizes: (C,) documents of each class.
        per_class: Most words of a class.
        minimum_documents: Documents that must have a word: what stands in one text alone is no keyword.
    """
    scores = np.where(counts.sum(axis=0) >= minimum_documents, association(counts, sizes), 0.0)
    chosen = np.zeros(scores.shape, dtype=bool)
    for label, row in enumerate(scores):
        best = np.argsort(-row, kind="stable")[:per_class]
        chosen[label, best[row[best] > 0]] = True
    return chosen


def occlusion_scores(classes: Ids, words: Ids, drops: Floats, n_classes: int, vocabulary_size: int) -> Floats:
    """s_occ of the equation above from P tries.

    Args:
        classes: (P,) the class ŷ(x) of the document of each try.
        words: (P,) the word that was masked.
        drops: (P,) f_ŷ(x) − f_ŷ(x − w).
        n_classes: C.
        vocabulary_size: V.

    Returns:
        (C, V) scores; −inf for words that were not tried for a class.
    """
    scores = np.full((n_classes, vocabulary_size), -np.inf)
    scores[classes, words] = 0.0
    np.add.at(scores, (classes, words), drops)
    return scores
