r"""Energy (Liu et al. 2020), and the joint energy of a 1-vs-rest head (Wang et al. 2021).

.. math::
    s(x) = -\log \sum_c e^{z_c} \quad \text{(multi-class)}, \qquad
    s(x) = -\sum_c \log (1 + e^{z_c}) \quad \text{(1-vs-rest)}

z (C,) are the logits of f_doc. A softmax has one energy. Each sigmoid is a two-class softmax of (z_c, 0) with an energy
of its own, and these are added.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from masker.config import SIGMOID_HEADS, Head, Settings
from masker.detection.arrays import Floats
from masker.detection.score import Score, register_score
from masker.detection.statistics import Statistics
from masker.inference.outputs import Outputs


def energy_score(doc_logits: npt.NDArray[np.floating], head: Head) -> Floats:
    """(N,) scores of (N, C) logits; higher = more out-of-distribution."""
    logits = np.asarray(doc_logits, dtype=np.float64)
    if head in SIGMOID_HEADS:
        return np.asarray(-np.logaddexp(0.0, logits).sum(axis=1))
    return -np.asarray(logsumexp(logits, axis=1))


@register_score
class EnergyScore(Score):
    """The energy of the logits."""

    name = "energy"

    def __init__(self, head: Head) -> None:
        self._head: Head = head

    @classmethod
    def build(cls, statistics: Statistics | None, settings: Settings) -> EnergyScore:
        return cls(settings.model.head)

    def ood_score(self, outputs: Outputs) -> Floats:
        return energy_score(outputs.logits, self._head)
