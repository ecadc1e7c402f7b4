r"""The sliding window: do more of the last w texts look strange than of all before them?

.. math::
    P(X \ge x) = \sum_{i = x}^{w} \binom{w}{i} \frac{B(a + i,\, b + w - i)}{B(a, b)}

x is the number of texts in the window above a score that a share of about 2, 5, 20 or 50 % of the earlier scores (the
calibration and the traffic until the window) exceeds. If a of the a + b gaps between the earlier scores are above it,
the probability of a new text to be there has a Beta(a, b) distribution, whatever the distribution of the scores, and X
a beta-binomial one: this p-value is exact, and counts in that the earlier scores are only a sample.

**Many looks.** The window is looked at after every h texts. In any H texts these are at most L = ⌈H/h⌉ + G looks for G
groups of texts that have a window each. Each look at each of the four scores is a test at level
:math:`\alpha / (4 L)`, so the probability of a false alarm in any H texts is at most :math:`\alpha` (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, gammaln

from masker.monitoring.online_p_values import Exceedance, Floats

#: Shares of the earlier scores that exceed the scores that are compared.
LEVELS = (0.02, 0.05, 0.2, 0.5)
#: The window is looked at whenever this part of it is new.
LOOKS_PER_WINDOW = 10


def texts_between_looks(window: int) -> int:
    """How many texts lie between two looks, h."""
    return max(1, window // LOOKS_PER_WINDOW)


def look_level(alarm_rate: float, horizon: int, every: int, groups: int) -> float:
    """The level of one test, for α = ``alarm_rate`` in ``horizon`` texts of so many groups together."""
    looks = -(-horizon // every) + groups
    return alarm_rate / (len(LEVELS) * looks)


def beta_binomial(count: int, above: npt.ArrayLike, below: npt.ArrayLike) -> Floats:
    """(..., count + 1) probabilities of X = 0, …, count, for (...,) parameters a and b."""
    a, b = np.asarray(above)[..., None], np.asarray(below)[..., None]
    i = np.arange(count + 1)
    return np.asarray(np.exp(_log_ways(count) + betaln(a + i, b + count - i) - betaln(a, b)))


@lru_cache
def _log_ways(count: int) -> Floats:
    """(count + 1,) logarithms of the binomial coefficients."""
    i = np.arange(count + 1)
    return np.asarray(gammaln(count + 1) - gammaln(i + 1) - gammaln(count - i + 1))


def window_p_values(scores: Floats, references: Sequence[Exceedance]) -> Floats:
    """(L,) P(X ≥ x) for the (w,) scores of the window, at each of L earlier scores."""
    earlier, above, below = np.array(references, dtype=np.float64).reshape(-1, 3).T
    observed = (scores > earlier[:, None]).sum(axis=1)
    chances = beta_binomial(len(scores), above, below)
    tail = np.arange(len(scores) + 1) >= observed[:, None]
    return np.asarray(np.minimum(1.0, (chances * tail).sum(axis=1)))


def smallest_p_value(scores: Floats, references: Sequence[Exceedance]) -> float:
    """The smallest of these, before the correction; 1 without anything to compare with."""
    return float(window_p_values(scores, references).min(initial=1.0))
