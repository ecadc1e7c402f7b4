r"""Highest probability: the paper's confidence, turned round into an out-of-distribution score.

.. math::
    s(x) = 1 - \max_c f_{doc}(x)_c

f_doc is the sigmoid of each class for a 1-vs-rest head and the softmax for a multi-class head (section "OOD Detection"
of the paper). Computed as the probability of *not* being the best class, :math:`\sigma(-z)`, instead of by
subtraction: 1 − p is 0 for every confident document in float arithmetic, and equal scores cannot be ranked.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logsumexp

from masker.config import Head

Floats = npt.NDArray[np.float64]


def class_probabilities(doc_logits: npt.NDArray[np.floating], head: Head) -> Floats:
    """(N, C) sigmoid or softmax outputs of f_doc. Sigmoid rows do not sum to 1: a 1-vs-rest head may reject all."""
    logits = np.asarray(doc_logits, dtype=np.float64)
    if head == "one-vs-rest":
        return np.asarray(expit(logits))
    return np.asarray(np.exp(logits - logsumexp(logits, axis=1, keepdims=True)))


def max_probability_score(doc_logits: npt.NDArray[np.floating], head: Head) -> Floats:
    """(N,) scores; higher = more out-of-distribution.

    Args:
        doc_logits: (N, C) outputs of f_doc.
        head: ``one-vs-rest`` or ``multi-class``.
    """
    logits = np.asarray(doc_logits, dtype=np.float64)
    best = logits.argmax(axis=1)
    rows = np.arange(len(logits))
    if head == "one-vs-rest":
        return np.asarray(expit(-logits[rows, best]))
    others = logits.copy()
    others[rows, best] = -np.inf
    return np.asarray(np.exp(logsumexp(others, axis=1) - logsumexp(logits, axis=1)))
