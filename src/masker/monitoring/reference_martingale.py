r"""A test martingale that bets on traffic that has differed from the calibration since the first text.

.. math::
    M_t = \frac{1}{|J|} \sum_{j \in J} \prod_{s \le t} f_{j,s}(p_s), \qquad
    f_{j,s}(p) = \begin{cases} q / \delta & p \le \delta \\ (1 - q) / (1 - \delta) & p > \delta \end{cases}, \qquad
    \delta = \frac{j + x}{n + s}, \quad q = \max\Bigl(\delta, \frac{x + 1/2}{s + 4}\Bigr)

:math:`p_s` are online p-values (:mod:`masker.monitoring.online_p_values`), n is the size of the calibration, and x
counts the texts before s that scored above the j-th highest calibration score, which is the same as
:math:`p \le \delta`. So :math:`\delta` is the chance that text s does, if traffic and calibration are alike, and q is
the rate at which the traffic does by itself, estimated with a Beta(1/2, 9/2) prior. The bet is on the difference, and
rests where the traffic has no more strange texts than it should.

Foreign texts that come from the start become part of the memory, so the p-values of those after them grow. A bet at a
fixed p-value then stops winning; this one moves its :math:`\delta` along. What it can win is limited by n: if a share
:math:`\pi` of the texts had always been foreign, the calibration set would have none of them with probability
:math:`(1 - \pi)^n`, and no test with a lower rate of false alarms can rule that out.

f depends on the past only and has mean 1 under uniform p-values, so M is a test martingale.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from masker.monitoring.change_martingale import LARGEST
from masker.monitoring.online_p_values import Floats
from masker.monitoring.packed_arrays import pack_array, unpack_array

#: Shares of the calibration scores from the j-th highest on; 0 is the highest one.
CALIBRATION_LEVELS = (0.0, 0.02, 0.1, 0.3)


class ReferenceMartingale:
    """M_t after each p-value. With ``streams``, of that many at once."""

    def __init__(self, size: int, streams: tuple[int, ...] = ()) -> None:
        self.size = size
        ranks = sorted({max(1, round(level * (size + 1))) for level in CALIBRATION_LEVELS})
        self._ranks: Floats = np.array(ranks, dtype=np.float64)  # j
        self.seen = 0
        self.above: Floats = np.zeros((*streams, len(ranks)))  # x
        self.capital: Floats = np.ones((*streams, len(ranks)))

    def update(self, p_values: Floats) -> Floats:
        """(..., b) M after each of b texts with (..., b) p-values."""
        seen = self.seen + 1 + np.arange(p_values.shape[-1])
        above = np.empty((*p_values.shape, len(self._ranks)))  # (..., b, J) x before each text
        for place, now in enumerate(seen):
            above[..., place, :] = self.above
            self.above = self.above + (p_values[..., place, None] <= (self._ranks + self.above) / (self.size + now))
        chance = (self._ranks + above) / (self.size + seen)[:, None]  # delta
        rate = np.maximum(chance, (above + 0.5) / (seen + 4.0)[:, None])  # q
        # Without a calibration every text counts as above, delta and q are 1, and nothing is won or lost.
        lost = (1.0 - rate) / np.where(chance < 1.0, 1.0 - chance, 1.0)
        factors = np.where(p_values[..., None] <= chance, rate / chance, lost)
        capital = self.capital[..., None, :] * factors.cumprod(axis=-2)
        self.seen, self.capital = int(seen[-1]), np.minimum(capital[..., -1, :], LARGEST)
        return np.asarray(capital.mean(axis=-1))

    def to_json(self) -> dict[str, Any]:
        """Everything that :meth:`from_json` needs to go on."""
        arrays = {"above": pack_array(self.above), "capital": pack_array(self.capital)}
        return {"size": self.size, "seen": self.seen, **arrays}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> ReferenceMartingale:
        """The inverse of :meth:`to_json`."""
        martingale = cls(int(content["size"]))
        martingale.seen = int(content["seen"])
        above, capital = unpack_array(content["above"]), unpack_array(content["capital"])
        if above.shape != martingale.above.shape or capital.shape != above.shape:
            raise ValueError(f"a calibration of {martingale.size} has {len(martingale.above)} bets; got {len(above)}")
        martingale.above, martingale.capital = above, capital
        return martingale
