r"""Entropy of the classes.

.. math::
    s(x) = -\sum_c p_c \log p_c, \qquad p = softmax(z)

For a 1-vs-rest head, too, p is the softmax of the logits, as in the paper's entropy regularization: the entropies of
single sigmoids would be low for a document that every class rejects.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax

Floats = npt.NDArray[np.float64]


def entropy_score(doc_logits: npt.NDArray[np.floating]) -> Floats:
    """(N,) scores of (N, C) logits, between 0 and log C; higher = more out-of-distribution."""
    log_p = log_softmax(np.asarray(doc_logits, dtype=np.float64), axis=1)
    return -np.asarray((np.exp(log_p) * log_p).sum(axis=1))
