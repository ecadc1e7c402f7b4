r"""A test martingale that bets on a change at an unknown text: long memory, and it may be looked at after every text.

.. math::
    M_t = P(\tau > t) + \sum_k w_k \sum_{\tau \le t} P(\tau) \prod_{s = \tau}^{t} f_k(p_s), \qquad
    f_k(p) = 1 - \pi_k + \pi_k g_k(p)

:math:`p_t` are online p-values (:mod:`masker.monitoring.online_p_values`). Bet k expects that, from text :math:`\tau`
on, a share :math:`\pi_k` of the texts is foreign, with p-values of density :math:`g_k`: either
:math:`1\{p \le \delta\} / \delta`, all strange to a degree, or :math:`\kappa p^{\kappa - 1}`, some very strange. The
weights :math:`w_k` are equal. The prior of the change is :math:`P(\tau > t) = 1 / \log(e + t/c)`, so heavy-tailed
that a change after a million quiet texts takes little longer to find than one after a thousand.

While nothing changes the p-values are uniform and :math:`f_k(p)` has mean 1. So M is a martingale that starts at 1, and
by Ville's inequality :math:`P(\sup_t M_t \ge 1/\alpha) \le \alpha`: over all time, however often one looks. P-values
below :math:`10^{-4}` count as :math:`10^{-4}`, which only lowers M.

The sum over :math:`\tau` is the Shiryaev-Roberts statistic with a prior and takes one number per bet:
:math:`A_k \leftarrow (A_k + w_k P(\tau = t)) f_k(p_t)`.

**When it began.** The most likely start, over all bets and texts, is where the highest of the sums
:math:`W_k \leftarrow \max(W_k, 0) + \log f_k(p_t)` last left 0 (Page's CUSUM).
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.monitoring.online_p_values import Floats
from masker.monitoring.packed_arrays import pack_array, unpack_array

Positions = npt.NDArray[np.int64]

#: Bets, each share π of foreign texts with each bound δ, and each with each exponent κ.
STEPS = tuple(itertools.product((0.03, 0.1, 0.3), (0.01, 0.03, 0.1, 0.25)))
POWERS = tuple(itertools.product((0.05, 0.15, 0.45), (0.2, 0.5)))
_STEP_SHARES, _BOUNDS = np.array(STEPS).T
_POWER_SHARES, _EXPONENTS = np.array(POWERS).T
_SMALLEST = 1e-4
#: c: one in four changes comes within this many texts.
_SCALE = 300.0
#: Capital beyond this is not counted, so that a long alarm does not overflow.
LARGEST = 1e150
#: Texts taken in together at most: the products of their factors are finite.
PIECE = 50


def change_prior(t: npt.ArrayLike) -> Floats:
    """P(τ > t)."""
    # log(e + x) as 1 + log(1 + x/e), which is 1 at x = 0; np.log(np.e) is less in NumPy 1.26.
    return np.asarray(1.0 / (1.0 + np.log1p(np.asarray(t) / (np.e * _SCALE))))


def bets(p_values: npt.ArrayLike) -> Floats:
    """(..., K) what each bet multiplies its capital by, for (...,) p-values: first the steps, then the powers."""
    bounded = np.maximum(p_values, _SMALLEST)[..., None]
    steps = 1.0 - _STEP_SHARES + _STEP_SHARES / _BOUNDS * (bounded <= _BOUNDS)
    powers = 1.0 - _POWER_SHARES + _POWER_SHARES * _EXPONENTS * bounded ** (_EXPONENTS - 1.0)
    return np.concatenate([steps, powers], axis=-1)


class ChangeMartingale:
    """M_t after each p-value, and the most likely start of a change. With ``streams``, of that many at once."""

    def __init__(self, streams: tuple[int, ...] = ()) -> None:
        count = len(STEPS) + len(POWERS)
        self.seen = 0
        self.capital: Floats = np.zeros((*streams, count))  # A
        self.sums: Floats = np.zeros((*streams, count))  # W
        self.starts: Positions = np.ones((*streams, count), dtype=np.int64)
        self._course = self.sums[..., None, :], self.starts[..., None, :]

    def update(self, p_values: Floats, positions: Positions) -> Floats:
        """(..., b) M after each of b ≤ :data:`PIECE` texts with (..., b) p-values and (b,) numbers."""
        factors = bets(p_values)  # (..., b, K)
        products = factors.cumprod(axis=-2)
        prior = change_prior(self.seen + np.arange(len(positions) + 1))
        stakes = -np.diff(prior)[:, None] / factors.shape[-1]
        # A_t = F_t (A_0 + stakes / F before each of them), F being the product of the factors so far.
        capital = products * (self.capital[..., None, :] + (stakes * factors / products).cumsum(axis=-2))
        self.capital = np.minimum(capital[..., -1, :], LARGEST)
        self.seen += len(positions)
        self._follow(np.log(factors), positions)
        return np.asarray(capital.sum(axis=-1) + prior[1:])

    def likely_start(self, place: int = -1) -> Any:
        """The number of the text at which a change most likely began, as seen after a text of the last update."""
        sums, starts = self._course
        best = sums[..., place, :].argmax(axis=-1)
        return np.take_along_axis(starts[..., place, :], best[..., None], axis=-1)[..., 0]

    def _follow(self, logs: Floats, positions: Positions) -> None:
        """Take (..., b, K) logarithms of the factors into W."""
        paths = np.concatenate([self.sums[..., None, :], logs], axis=-2).cumsum(axis=-2)  # (..., b + 1, K)
        lowest = np.minimum(0.0, np.minimum.accumulate(paths, axis=-2))[..., :-1, :]
        # A sum starts anew with the text after its path was at or below 0 and as low as never before.
        anew = paths[..., :-1, :] <= lowest
        place = np.maximum.accumulate(np.where(anew, np.arange(len(positions))[:, None], -1), axis=-2)
        starts = np.where(place >= 0, positions[place], self.starts[..., None, :])
        sums = paths[..., 1:, :] - lowest
        self._course = sums, starts  # (..., b, K) after each text
        self.sums, self.starts = sums[..., -1, :], starts[..., -1, :]

    def to_json(self) -> dict[str, Any]:
        """Everything that :meth:`from_json` needs to go on."""
        return {"seen": self.seen, **{name: pack_array(getattr(self, name)) for name in _STORED}}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> ChangeMartingale:
        """The inverse of :meth:`to_json`."""
        martingale = cls()
        martingale.seen = int(content["seen"])
        for name in _STORED:
            array = unpack_array(content[name])
            if array.shape != martingale.sums.shape:
                raise ValueError(f"'{name}' must have shape {martingale.sums.shape}; got {array.shape}")
            setattr(martingale, name, array)
        return martingale


_STORED = ("capital", "sums", "starts")
