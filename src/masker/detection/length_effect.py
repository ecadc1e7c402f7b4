r"""How the typical distance of a document from its class depends on its length.

.. math::
    \log g(n) = \beta \, (\log \bar n - \overline{\log \bar n}), \qquad
    \beta = \min\Big(0, \frac{\sum_i (\log \bar n_i - \overline{\log \bar n})\, e_i}
                             {\sum_i (\log \bar n_i - \overline{\log \bar n})^2 + k \log^2 2}\Big)

A feature vector is an average over tokens, directly or by attention, so the vector of a short text varies more: phrases
lie far from the mean of their class, and a long text about anything lies near it. :math:`e_i` is the logarithm of the
distance of training document i from its class, relative to what is typical for the class; regressing it on the
logarithm of the length :math:`n_i` (tokens) gives what is typical for a length. The prior is k = 10 additional
documents, half or twice as long as the average, that show no effect, so a few documents cannot create one. Lengths are
clipped to the range of the central 98 % of the training documents, :math:`\bar n`; nothing is known beyond it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from masker.detection.arrays import Floats, Labels

#: k: prior documents that show no effect of a factor of two.
PRIOR_DOCUMENTS = 10.0
#: The quantiles of the training lengths that lengths are clipped to.
RANGE = (0.01, 0.99)


@dataclass(frozen=True)
class LengthEffect:
    """g, a function of the number of tokens."""

    slope: float  # β
    centre: float  # mean logarithm of the lengths
    low: float  # shorter lengths count as this one
    high: float  # longer lengths count as this one

    @classmethod
    def fit(cls, lengths: Labels, sizes: Floats) -> LengthEffect:
        """Regress (M,) e, the log distances of M > 0 training documents relative to their class, on (M,) tokens."""
        low, high = np.quantile(lengths, RANGE)
        logs = np.log(np.clip(lengths, max(low, 1.0), max(high, 1.0)))
        centre = float(logs.mean())
        apart = logs - centre
        slope = float(apart @ sizes) / (float(apart @ apart) + PRIOR_DOCUMENTS * math.log(2.0) ** 2)
        return cls(min(0.0, slope), centre, max(float(low), 1.0), max(float(high), 1.0))

    def __call__(self, lengths: Labels) -> Floats:
        """(N,) g of documents with these numbers of tokens: about 1 for a typical length, higher for a short one."""
        return np.asarray(np.exp(self.slope * (np.log(np.clip(lengths, self.low, self.high)) - self.centre)))
