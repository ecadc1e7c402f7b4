r"""From a score to a decision with a guarantee: split-conformal p-values and thresholds.

.. math::
    p(x) = \frac{1 + \#\{i : s_i \ge s(x)\}}{n + 1}, \qquad
    t_\alpha = s_{(k)}, \quad k = \lceil (n + 1)(1 - \alpha) \rceil

:math:`s_1, \dots, s_n` are the scores of held-out in-distribution documents, :math:`s_{(k)}` is the k-th smallest. If a
new in-distribution document is exchangeable with them (drawn from the same source, and none of them used to fit the
score), then :math:`P(p(x) \le \alpha) \le \alpha` for every n, not only in the limit (Vovk et al. 2005). Rejecting
where :math:`s(x) > t_\alpha` is the same as rejecting where :math:`p(x) \le \alpha`.

The probability is over the held-out documents as well as the new one: the long-run rate R of one calibrated model
varies around it with a Beta(n + 1 − k, k) distribution (for scores without ties; ties only lower it). For α = 5 %, 1000
held-out documents keep it between 3.7 % and 6.4 % in 19 of 20 cases, 100 documents between 1.6 % and 10 %.

With n < 1/α − 1, only a threshold that rejects nothing guarantees α. Then k = n, the highest score, is used, and the
guarantee is 1 / (n + 1).

A confidence γ asks for more: α shall bound the rate of this model, and may fail for at most a share 1 − γ of all
held-out sets (a one-sided tolerance bound, Wilks 1941; for conformal prediction Vovk 2012):

.. math::
    k = \min \{k \le n : P(R_k \le \alpha) \ge \gamma\}, \qquad R_k \sim \mathrm{Beta}(n + 1 - k,\, k)

Even k = n, with :math:`P(R_n \le \alpha) = 1 - (1 - \alpha)^n`, reaches γ only if
:math:`n \ge \log(1 - \gamma) / \log(1 - \alpha)`: 59 documents for 5 % at 95 %. With fewer, k = n is used, and the
bound is :math:`1 - (1 - \gamma)^{1/n}`.
"""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, betaincinv

from masker.detection.arrays import Floats

#: (n + 1)(1 − α) is an integer for many common n and α; rounding must not push it to the next one.
_ROUNDING = 1e-9
#: Probability of the interval that :func:`rate_interval` gives.
INTERVAL_SHARE = 0.9


def conformal_p_values(scores: npt.NDArray[np.floating], held_out: npt.NDArray[np.floating]) -> Floats:
    """(N,) p-values of (N,) scores among (n,) held-out ones in ascending order; small = more out-of-distribution."""
    below = np.searchsorted(held_out, scores, side="left")
    return np.asarray((1.0 + len(held_out) - below) / (len(held_out) + 1.0))


def threshold_rank(count: int, false_alarm_rate: float, confidence: float | None = None) -> int:
    """k: the threshold is the k-th smallest of ``count`` > 0 held-out scores."""
    if confidence is None:
        rank = math.ceil((count + 1) * (1.0 - false_alarm_rate) - _ROUNDING)
        return min(max(rank, 1), count)

    def certainty(rank: int) -> float:  # P(R_k <= alpha), which grows with k
        return float(betainc(count + 1 - rank, rank, false_alarm_rate))

    return min(1 + bisect_left(range(1, count + 1), confidence - _ROUNDING, key=certainty), count)


def conformal_threshold(
    held_out: npt.NDArray[np.floating], false_alarm_rate: float, confidence: float | None = None
) -> float:
    """The threshold t for α = ``false_alarm_rate`` from (n,) held-out scores in any order, n > 0.

    A document that scores higher is rejected; with α = 0, only what scores above all held-out documents. With a
    ``confidence`` γ, α bounds the rate of this threshold with probability γ, instead of the average rate.
    """
    return float(np.sort(held_out)[threshold_rank(len(held_out), false_alarm_rate, confidence) - 1])


def promised_rate(count: int, false_alarm_rate: float, confidence: float | None = None) -> float:
    """The rate that ``count`` > 0 held-out documents guarantee: α, or the lowest possible one if that is higher.

    The lowest is 1 / (n + 1) on average, and 1 − (1 − γ)^(1/n) with confidence γ.
    """
    lowest = 1.0 / (count + 1) if confidence is None else -math.expm1(math.log1p(-confidence) / count)
    return max(false_alarm_rate, lowest)


def least_documents(false_alarm_rate: float, confidence: float | None = None) -> int:
    """The number of held-out documents needed to guarantee α.

    The smallest n with 1 / (n + 1) ≤ α; with confidence γ, the smallest with 1 − (1 − α)^n ≥ γ.
    """
    rate = min(max(false_alarm_rate, _ROUNDING), 1.0 - _ROUNDING)
    least = 1.0 / rate - 1.0 if confidence is None else math.log1p(-confidence) / math.log1p(-rate)
    return math.ceil(least - _ROUNDING)


def rate_interval(count: int, false_alarm_rate: float, confidence: float | None = None) -> tuple[float, float]:
    """The central interval of the calibrated model's own rate R, which holds with :data:`INTERVAL_SHARE`."""
    rank = threshold_rank(count, false_alarm_rate, confidence)
    tail = (1.0 - INTERVAL_SHARE) / 2.0
    low, high = betaincinv(count + 1 - rank, rank, [tail, 1.0 - tail])
    return float(low), float(high)
