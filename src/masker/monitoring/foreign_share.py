r"""How many of the last texts are foreign.

.. math::
    \hat\pi = \frac{r - q}{1 - q}

r is the share of the last w texts above a score, q the share of in-distribution texts above it. If all foreign texts
score above it, :math:`r = (1 - \pi) q + \pi`, which gives :math:`\pi`; if not all do, the result is lower. So every
score gives a lower bound of :math:`\pi`: a high one a firm bound where foreign texts are very strange, a low one a
bound that misses few of them. The lower end of the interval is the best bound of all levels. The estimate and the upper
end are those of the score that one in five known texts exceeds; foreign texts below it are not counted.

Both r and q are uncertain: the ends are made of those of an exact interval for r (Clopper and Pearson 1934) and of the
Beta distribution of q (:mod:`masker.monitoring.online_p_values`), the risk divided between the two, and for the lower
end over the levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from scipy.special import betaincinv

from masker.monitoring.online_p_values import Exceedance, Floats

CONFIDENCE = 0.95
#: The share of known texts above the score of the estimate.
_LEVEL = 0.2


@dataclass(frozen=True)
class ForeignShare:
    """An estimate with its 95 % interval, from the last ``texts`` texts."""

    value: float
    low: float
    high: float
    texts: int

    def as_dict(self) -> dict[str, float]:
        """JSON-ready."""
        return asdict(self)


def foreign_share(scores: Floats, references: Sequence[Exceedance]) -> ForeignShare | None:
    """The share of foreign texts among (w,) scores, compared with what is known of in-distribution ones."""
    if not len(scores) or not references:
        return None
    tail = (1.0 - CONFIDENCE) / 4.0
    low = max(_lower_end(scores, reference, tail / len(references)) for reference in references)
    main = min(references, key=lambda reference: abs(_expected(reference) - _LEVEL))
    above, count = int((scores > main.score).sum()), len(scores)
    highest = float(betaincinv(above + 1, count - above, 1.0 - tail)) if above < count else 1.0
    high = _share(highest, float(betaincinv(main.above, main.below, tail)))
    value = _share(above / count, _expected(main))
    # With few texts the bound of another level can be higher.
    return ForeignShare(max(value, low), low, max(high, low), count)


def _lower_end(scores: Floats, reference: Exceedance, tail: float) -> float:
    above = int((scores > reference.score).sum())
    lowest = float(betaincinv(above, len(scores) - above + 1, tail)) if above else 0.0
    return _share(lowest, float(betaincinv(reference.above, reference.below, 1.0 - tail)))


def _expected(reference: Exceedance) -> float:
    """The share of in-distribution texts above the score, on average."""
    return reference.above / (reference.above + reference.below)


def _share(r: float, q: float) -> float:
    return min(1.0, max(0.0, (r - q) / (1.0 - q)))
