r"""How the usual distance of a document depends on its length.

.. math::
    \log g(n) = \beta \, (\log \bar n - \overline{\log \bar n}), \qquad
    \beta = \min\Big(0, \frac{\sum_i (\log \bar n_i - \overline{\log \bar n})\, e_i}
                             {\sum_i (\log \bar n_i - \overline{\log \bar n})^2 + k \log^2 2}\Big)

A feature vector is an average over tokens, directly or by attention, so that of a short text varies more: phrases lie
far from the mean of their class, and a long text about anything at all lies near it. :math:`e_i` is the logarithm of
the distance of training document i from its class, in units of what is usual there; its regression on the logarithm of
the length :math:`n_i` (tokens) tells what is usual for a length. k = 10 further documents, half or twice as long as the
others, are taken to show no effect, so that few documents cannot make up one. Lengths are cut to what 98 of 100
training documents have, :math:`\bar n`: nothing is known beyond.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: k: documents that are taken to show no effect of a factor of two.
PRIOR_DOCUMENTS = 10.0
#: The shares of the training documents between which lengths are believed.
RANGE = (0.01, 0.99)


@dataclass(frozen=True)
class LengthEffect:
    r"""g, as a function of the number of tokens.

    Attributes:
        slope: :math:`\beta`.
        centre: Mean of the logarithms of the lengths.
        low: The shortest length that is believed.
        high: The longest.
    """

    slope: float
    centre: float
    low: float
    high: float

    @classmethod
    def fit(cls, lengths: npt.NDArray[np.int64], sizes: Floats) -> LengthEffect:
        """Regress sizes on lengths.

        Args:
            lengths: (M,) tokens of training documents, at least one.
            sizes: (M,) e, the logarithms of their distances in units of their class.
        """
        low, high = np.quantile(lengths, RANGE)
        logs = np.log(np.clip(lengths, max(low, 1.0), max(high, 1.0)))
        centre = float(logs.mean())
        apart = logs - centre
        slope = float(apart @ sizes) / (float(apart @ apart) + PRIOR_DOCUMENTS * math.log(2.0) ** 2)
        return cls(min(0.0, slope), centre, max(float(low), 1.0), max(float(high), 1.0))

    def __call__(self, lengths: npt.NDArray[np.int64]) -> Floats:
        """(N,) g of documents with these numbers of tokens: about 1 for a usual length, above it for a short one."""
        return np.asarray(np.exp(self.slope * (np.log(np.clip(lengths, self.low, self.high)) - self.centre)))
