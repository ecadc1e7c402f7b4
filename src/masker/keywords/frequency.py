r"""Frequency-based keyword scores (Eq. 1 of the paper).

.. math::
    s^{freq}(t) = \max_c \; tf(t, X_c) \cdot idf(t, D)

with :math:`tf(t, X) = 0.5 + 0.5\, n_{t,X} / \max_{t'} n_{t',X}` and
:math:`idf(t, D) = \log(|D| / |\{X \in D : t \in X\}|)`, where :math:`X_c` concatenates all documents of class c and
D = [X_1, …, X_C] is the list of these C large documents.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from masker.keywords.scheme import Evidence, KeywordScheme

_TOKENS_AT_ONCE = 1 << 20


def class_token_counts(
    documents: Iterable[tuple[npt.NDArray[np.int64], int]], n_classes: int, vocabulary_size: int
) -> npt.NDArray[np.int64]:
    """(C, V) counts n_{t, X_c} from (token ids without special tokens, class index) pairs, in one pass.

    Memory does not grow with the corpus.
    """
    counts = np.zeros(n_classes * vocabulary_size, dtype=np.int64)
    cells: list[npt.NDArray[np.int64]] = []
    waiting = 0

    def flush() -> None:
        nonlocal waiting
        if cells:
            np.add(counts, np.bincount(np.concatenate(cells), minlength=len(counts)), out=counts)
            cells.clear()
            waiting = 0

    for token_ids, label in documents:
        cells.append(token_ids + label * vocabulary_size)
        waiting += len(token_ids)
        # One bincount over many documents is far cheaper than one per document, and memory stays bounded.
        if waiting > _TOKENS_AT_ONCE:
            flush()
    flush()
    return counts.reshape(n_classes, vocabulary_size)


def class_frequency_scores(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """(C, V) scores tf(t, X_c) · idf(t, D) from the counts n_{t, X_c}; −inf for tokens absent from the corpus."""
    largest = counts.max(axis=1, keepdims=True)  # (C, 1)
    # An empty class has no most frequent token: tf is 0.5 throughout, as for any token a class lacks.
    tf = 0.5 + 0.5 * counts / np.maximum(largest, 1)  # (C, V)
    document_frequency = (counts > 0).sum(axis=0)  # (V,)
    idf = np.log(counts.shape[0] / np.maximum(document_frequency, 1))
    return np.asarray(np.where(document_frequency > 0, tf * idf, -np.inf))


def frequency_scores(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Eq. 1: the (V,) maximum over classes of :func:`class_frequency_scores`."""
    return np.asarray(class_frequency_scores(counts).max(axis=0))


class FrequencyScheme(KeywordScheme):
    """Eq. 1: tokens that are frequent in one class and absent from others."""

    name = "frequency"
    compares_classes = True

    def class_scores(self, evidence: Evidence) -> npt.NDArray[np.float64]:
        # A class chooses only among its own tokens.
        return np.where(evidence.counts > 0, class_frequency_scores(evidence.counts), -np.inf)

    def scores(self, evidence: Evidence) -> npt.NDArray[np.float64]:
        return frequency_scores(evidence.counts)
