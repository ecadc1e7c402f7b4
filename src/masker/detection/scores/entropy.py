r"""Entropy of the class distribution.

.. math::
    s(x) = -\sum_c p_c \log p_c, \qquad p = softmax(z)

z (C,) are the logits of f_doc. A 1-vs-rest head uses the softmax of its logits too, as the paper's entropy
regularization does: the entropies of the single sigmoids would be low for a document that every class rejects.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax

from masker.detection.arrays import Floats
from masker.detection.score import Score, register_score
from masker.inference.outputs import Outputs


def entropy_score(doc_logits: npt.NDArray[np.floating]) -> Floats:
    """(N,) scores of (N, C) logits, between 0 and log C; higher = more out-of-distribution."""
    log_p = log_softmax(np.asarray(doc_logits, dtype=np.float64), axis=1)
    return -np.asarray((np.exp(log_p) * log_p).sum(axis=1))


@register_score
class EntropyScore(Score):
    """The entropy of the softmax."""

    name = "entropy"

    def ood_score(self, outputs: Outputs) -> Floats:
        return entropy_score(outputs.logits)
