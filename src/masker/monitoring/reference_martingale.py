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

from collections.abc import Sequence
from typing import Any

import numpy as np

from masker.monitoring.change_martingale import LARGEST
from masker.monitoring.online_p_values import Exceedance, Floats
from masker.monitoring.packed_arrays import pack_array, unpack_array

#: Shares of the calibration scores from the j-th highest on; 0 is the highest one.
CALIBRATION_LEVELS = (0.0, 0.02, 0.1, 0.3)


class ReferenceMartingale:
    """M_t after each text. With arrays of (..., J) scores and ranks, of many streams at once.

    Args:
        calibration: For each j, the score and how many gaps between calibration scores are above it, which is j, and
            below it; none if there is no calibration, and M stays 1.
    """

    def __init__(self, calibration: Sequence[Exceedance]) -> None:
        known = np.array(calibration, dtype=np.float64).reshape(len(calibration), 3, *np.shape(calibration)[2:])
        self._known: Floats = np.moveaxis(known, 0, -1)  # (3, ..., J)
        self.seen = 0
        self.above: Floats = np.zeros(self._known.shape[1:])  # x
        self.capital: Floats = np.ones(self._known.shape[1:])

    def update(self, scores: Floats) -> Floats:
        """(..., b) M after each of b texts with (..., b) scores."""
        seen = self.seen + 1.0 + np.arange(scores.shape[-1])
        self.seen += scores.shape[-1]
        if not self.capital.size:
            return np.ones(scores.shape)
        score, rank, rest = self._known[..., None, :]  # (..., 1, J)
        won = scores[..., None] > score
        counts = self.above[..., None, :] + won.cumsum(axis=-2)
        above = counts - won  # (..., b, J) x before each text
        chance = (rank + above) / (rank + rest + seen[:, None] - 1.0)  # delta
        rate = np.maximum(chance, (above + 0.5) / (seen[:, None] + 4.0))  # q
        factors = np.where(won, rate / chance, (1.0 - rate) / (1.0 - chance))
        capital = self.capital[..., None, :] * factors.cumprod(axis=-2)
        self.above, self.capital = counts[..., -1, :], np.minimum(capital[..., -1, :], LARGEST)
        return np.asarray(capital.mean(axis=-1))

    def to_json(self) -> dict[str, Any]:
        """Everything that :meth:`from_json` needs to go on."""
        arrays = {"known": self._known, "above": self.above, "capital": self.capital}
        return {"seen": self.seen, **{name: pack_array(array) for name, array in arrays.items()}}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> ReferenceMartingale:
        """The inverse of :meth:`to_json`."""
        martingale = cls(())
        martingale.seen = int(content["seen"])
        martingale._known, martingale.above, martingale.capital = (
            unpack_array(content[name]) for name in ("known", "above", "capital")
        )
        if (
            martingale._known.shape != (3, *martingale.above.shape)
            or martingale.above.shape != martingale.capital.shape
        ):
            raise ValueError(f"{martingale._known.shape} and {martingale.above.shape} do not go together")
        return martingale
