r"""Highest probability (``max-prob``): one minus the paper's confidence.

.. math::
    s(x) = 1 - \max_c f_{doc}(x)_c

:math:`f_{doc}(x)` (C,) are the sigmoids of a 1-vs-rest head or the softmax of a multi-class head (MASKER paper, section
"OOD Detection"). Computed as the probability of *not* being the best class, :math:`\sigma(-z)`, instead of by
subtraction: in floating point 1 − p is 0 for every confident document, and equal scores cannot be ranked.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logsumexp

from masker.config import SIGMOID_HEADS, Head, Settings
from masker.detection.arrays import Floats
from masker.detection.score import Score, register_score
from masker.detection.statistics import Statistics
from masker.inference.outputs import Outputs


def class_probabilities(doc_logits: npt.NDArray[np.floating], head: Head) -> Floats:
    """(N, C) sigmoids or softmax of f_doc. Sigmoids need not sum to 1: a 1-vs-rest head may reject all classes."""
    logits = np.asarray(doc_logits, dtype=np.float64)
    if head in SIGMOID_HEADS:
        return np.asarray(expit(logits))
    return np.asarray(np.exp(logits - logsumexp(logits, axis=1, keepdims=True)))


def max_probability_score(doc_logits: npt.NDArray[np.floating], head: Head) -> Floats:
    """(N,) scores of (N, C) logits; higher = more out-of-distribution."""
    logits = np.asarray(doc_logits, dtype=np.float64)
    best = logits.argmax(axis=1)
    rows = np.arange(len(logits))
    if head in SIGMOID_HEADS:
        return np.asarray(expit(-logits[rows, best]))
    others = logits.copy()
    others[rows, best] = -np.inf
    return np.asarray(np.exp(logsumexp(others, axis=1) - logsumexp(logits, axis=1)))


@register_score
class MaxProbabilityScore(Score):
    """One minus the highest probability."""

    name = "max-prob"

    def __init__(self, head: Head) -> None:
        self._head: Head = head

    @classmethod
    def build(cls, statistics: Statistics | None, settings: Settings) -> MaxProbabilityScore:
        return cls(settings.model.head)

    def ood_score(self, outputs: Outputs) -> Floats:
        return max_probability_score(outputs.logits, self._head)
