r"""Highest logit (Hendrycks et al. 2022), turned round into an out-of-distribution score.

.. math::
    s(x) = -\max_c z_c

z are the logits of f_doc. For a 1-vs-rest head this ranks documents as the highest probability does; for a multi-class
head it keeps what the softmax divides away: how large the logits are altogether.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def max_logit_score(doc_logits: npt.NDArray[np.floating]) -> Floats:
    """(N,) scores of (N, C) logits; higher = more out-of-distribution."""
    return np.asarray(-np.asarray(doc_logits, dtype=np.float64).max(axis=1))
