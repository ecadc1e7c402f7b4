r"""Highest logit (Hendrycks et al. 2022): ``max-logit``, and ``highest-logit`` of method ``linear``.

.. math::
    s(x) = -\max_c z_c

z (C,) are the logits of f_doc. For a 1-vs-rest head this ranks documents as the highest probability does; for a
multi-class head it keeps what the softmax divides out: the overall size of the logits.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from masker.detection.arrays import Floats
from masker.detection.score import Score, register_score
from masker.inference.outputs import Outputs


def max_logit_score(doc_logits: npt.NDArray[np.floating]) -> Floats:
    """(N,) scores of (N, C) logits; higher = more out-of-distribution."""
    return np.asarray(-np.asarray(doc_logits, dtype=np.float64).max(axis=1))


@register_score
class MaxLogitScore(Score):
    """Minus the highest logit."""

    name = "max-logit"

    def ood_score(self, outputs: Outputs) -> Floats:
        return max_logit_score(outputs.logits)


@register_score
class HighestLogitScore(MaxLogitScore):
    """The score of method ``linear``, under the name that its model folders have."""

    name = "highest-logit"
    method_only = True
