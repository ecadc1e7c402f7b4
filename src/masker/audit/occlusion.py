r"""Occlusion: hide one word, and see how much of the model's confidence goes with it.

.. math::
    s^{occ}_c(w) = \sum_{x : \hat y(x) = c,\ w \in x} \bigl[ f_c(x) - f_c(x - w) \bigr]

f_c(x) is the probability of class c for document x, ŷ(x) the class that the model predicts for x, and x − w the
document with every occurrence of word w hidden. Summing over documents rewards a word for how often and how much it
matters, as Eq. 2 of the paper does for attention. Attention shows where a model looks, which is mostly function words
and punctuation; occlusion shows what its answer depends on. Not in the paper.

One pass for each word of each document would be expensive, so only words associated with a class are tried. A word that
the model relies on for class c occurs in more of the documents it assigns to c than of the others, as measured by

.. math::
    z_c(w) = \frac{p_c - p_{\neg c}}{\sqrt{p (1 - p) (1 / n_c + 1 / n_{\neg c})}}

where p_c is the share of the n_c documents assigned to c that contain w, p_¬c that of the others, and p that of all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from masker.audit.audited_model import AuditedModel
from masker.audit.hiding import AnsweredDocuments, DistinctRows
from masker.audit.words import Flags, Floats, Ids
from masker.progress import progress_bar


def document_counts(words: list[Ids], classes: Ids, n_classes: int, vocabulary_size: int) -> Ids:
    """(C, V) documents of each class that contain each word."""
    counts = np.zeros((n_classes, vocabulary_size), dtype=np.int64)
    for row, label in zip(words, classes, strict=True):
        counts[label, np.unique(row)] += 1
    return counts


def association(counts: Ids, sizes: Ids) -> Floats:
    """(C, V) z_c(w) from the documents of each class that contain each word (C, V) and those of each class (C,).

    0 where a class has no documents or all of them, or a word is in none or in all of them.
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
    """(C, V) true for the words worth trying in each class: at most ``per_class``, with the highest z above 0.

    At least ``minimum_documents`` must contain a word; a word of a single text is no keyword.
    """
    scores = np.where(counts.sum(axis=0) >= minimum_documents, association(counts, sizes), 0.0)
    chosen = np.zeros(scores.shape, dtype=bool)
    for label, row in enumerate(scores):
        best = np.argsort(-row, kind="stable")[:per_class]
        chosen[label, best[row[best] > 0]] = True
    return chosen


def occlusion_scores(classes: Ids, words: Ids, drops: Floats, n_classes: int, vocabulary_size: int) -> Floats:
    """(C, V) s_occ; −inf for words that were not tried in a class.

    For each of P occlusions: the class ŷ(x) of the document, the hidden word, and the drop f_ŷ(x) − f_ŷ(x − w).
    """
    scores = np.full((n_classes, vocabulary_size), -np.inf)
    scores[classes, words] = 0.0
    np.add.at(scores, (classes, words), drops)
    return scores


@dataclass(frozen=True)
class Occlusions:
    """How answers change when a single word is hidden, P times."""

    rows: Ids  # (P,) the document
    words: Ids  # (P,) the word, hidden wherever it occurs in the document
    probabilities: Floats  # (P, C) the answer without it
    drops: Floats  # (P,) f_ŷ(x) − f_ŷ(x − w), the confidence lost
    flipped: Flags  # (P,) whether the predicted class changes


def occlude(
    model: AuditedModel, answered: AnsweredDocuments, wanted: Flags, title: str = "single keywords"
) -> Occlusions:
    """Hide words one at a time: the (C, V) ``wanted`` ones in documents of each predicted class."""
    rows = DistinctRows()
    tries: list[tuple[int, int]] = []
    places = []
    for row, label in enumerate(answered.predicted):
        words = answered.words.words[row]
        for word in np.unique(words[wanted[label, words]]):
            tries.append((row, int(word)))
            places.append(rows.add(answered.hider.without(row, words == word)))
    pairs = np.array(tries, dtype=np.int64).reshape(-1, 2)
    probabilities = np.empty((0, answered.n_classes))
    if tries:
        with progress_bar(len(rows), title, "text") as bar:
            probabilities = model.probabilities(rows.encoded(), bar.update)[places]
    classes = answered.predicted[pairs[:, 0]]
    drops = answered.confidences[pairs[:, 0]] - probabilities[np.arange(len(pairs)), classes]
    return Occlusions(pairs[:, 0], pairs[:, 1], probabilities, drops, probabilities.argmax(axis=1) != classes)
