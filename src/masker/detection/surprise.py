r"""How surprising a score is among in-distribution documents: the common scale on which scores are added.

.. math::
    u(s) = -\log p(s) \;\; (s \le q), \qquad
    u(s) = -\log p(q) + \frac{s - q}{\beta} \;\; (s > q)

p is the conformal p-value among m reference documents (:mod:`masker.detection.conformal`), interpolated linearly
between their scores; q is the score that a tenth of them exceeds (of few: eight, or half), and :math:`\beta` the
mean excess of those. A p-value is never below 1 / (m + 1), so without the exponential tail everything beyond the
reference documents would be equal.

Adding −log p of several scores is Fisher's method of combining p-values (:class:`JointSurprise`).

A reference document is less surprising among documents that include itself than a new one would be: it counts in its
own p-value and widens its own tail. A threshold set on such values would reject 6 % of new documents instead of 5 %
with 40 reference documents, 5.1 % with 300. :meth:`JointSurprise.left_out` judges each among the others.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from masker.detection.arrays import Floats
from masker.detection.conformal import conformal_p_values

#: Share of the reference documents that the tail is fitted to, and the least number of them, but never more than half:
#: the width that two documents give is hardly known.
TAIL = 0.1
LEAST_TAIL = 8
#: Among more reference documents than this, one makes no difference.
MOST_LEFT_OUT = 2000


class Surprise:
    """u for one score, from the (m,) scores of m > 0 in-distribution documents, ``least_tail`` of them for the tail."""

    def __init__(self, reference: npt.NDArray[np.floating], least_tail: int = LEAST_TAIL) -> None:
        ordered = np.sort(np.asarray(reference, dtype=np.float64))
        tail = max(1, min(max(least_tail, int(TAIL * len(ordered))), len(ordered) // 2))
        start = float(ordered[-tail - 1]) if tail < len(ordered) else float(ordered[0])
        points = np.unique(ordered[ordered <= start])
        self._points, self._values = points, -np.log(conformal_p_values(points, ordered))
        self._start = start
        # If all scores of the tail are equal, the range of the others is the next best width.
        widths = (float((ordered[-tail:] - start).mean()), float(np.ptp(ordered)) / 10.0, 1e-6 * max(1.0, abs(start)))
        self._width = next(width for width in widths if width > 0.0)

    def __call__(self, scores: Floats) -> Floats:
        """(N,) values u of (N,) scores."""
        inside = np.interp(scores, self._points, self._values, left=0.0)
        return np.asarray(inside + np.maximum(scores - self._start, 0.0) / self._width)


class JointSurprise:
    r"""The sum over several scores: :math:`s(x) = \sum_j \max(0, u_j(s_j(x)) - c_j)`.

    With all c = 0 this is Fisher's statistic. A member with c = log 20 is a guard: it is silent about the 19 of 20
    in-distribution documents that it finds least surprising, so it adds no noise there, and counts beyond them.
    """

    def __init__(self, references: dict[str, Floats], offsets: dict[str, float], least_tail: int = LEAST_TAIL) -> None:
        self._references, self._offsets, self._least_tail = references, offsets, least_tail
        self._parts = {name: (Surprise(references[name], least_tail), offset) for name, offset in offsets.items()}

    def __call__(self, scores: dict[str, Floats]) -> Floats:
        """(N,) joint scores, from each member's (N,) scores."""
        parts = [np.maximum(surprise(scores[name]) - offset, 0.0) for name, (surprise, offset) in self._parts.items()]
        return np.asarray(sum(parts))

    def left_out(self) -> Floats:
        """(m,) joint scores of the m reference documents, each among the others."""
        own = {name: self._references[name] for name in self._offsets}
        count = len(next(iter(own.values())))
        if not 1 < count <= MOST_LEFT_OUT:
            return self(own)
        told = np.empty(count)
        for row in range(count):
            rest = {name: np.delete(scores, row) for name, scores in own.items()}
            others = JointSurprise(rest, self._offsets, self._least_tail)
            told[row] = others({name: scores[row : row + 1] for name, scores in own.items()})[0]
        return told
