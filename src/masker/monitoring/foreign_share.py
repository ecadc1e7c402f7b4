r"""How many of the last texts are foreign.

.. math::
    \hat\pi = \frac{r - q}{1 - q}

r is the share of the last w texts above a score, q the share of in-distribution texts above it. If all foreign texts
score above it, :math:`r = (1 - \pi) q + \pi`, which gives :math:`\pi`. Those that the score cannot tell from known
texts are not counted, so this is the share of texts that look foreign.

The interval takes both ends of an exact interval for r (Clopper and Pearson 1934) and of one for q (a Beta
distribution, see :mod:`masker.monitoring.online_p_values`); the risk is divided between the two and over the levels.
The level reported is the one with the highest lower end (a low one where foreign texts are very strange, a high one
where they are only somewhat strange), or the lowest upper end if no lower one exceeds 0.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from scipy.special import betaincinv

from masker.monitoring.online_p_values import Exceedance, Floats

CONFIDENCE = 0.95


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


def foreign_share(scores: Floats, references: list[Exceedance]) -> ForeignShare | None:
    """The share of (w,) scores that look foreign, compared with what is known of in-distribution ones."""
    if not len(scores) or not references:
        return None
    tail = (1.0 - CONFIDENCE) / 4.0 / len(references)
    shares = [_at_level(scores, reference, tail) for reference in references]
    return max(shares, key=lambda share: (share.low, -share.high))


def _at_level(scores: Floats, reference: Exceedance, tail: float) -> ForeignShare:
    count = len(scores)
    above = int((scores > reference.score).sum())
    r_low = float(betaincinv(above, count - above + 1, tail)) if above else 0.0
    r_high = float(betaincinv(above + 1, count - above, 1.0 - tail)) if above < count else 1.0
    q_low, q_high = (float(betaincinv(reference.above, reference.below, p)) for p in (tail, 1.0 - tail))
    q = reference.above / (reference.above + reference.below)

    def share(r: float, q: float) -> float:
        return min(1.0, max(0.0, (r - q) / (1.0 - q)))

    return ForeignShare(share(above / count, q), share(r_low, q_high), share(r_high, q_low), count)
