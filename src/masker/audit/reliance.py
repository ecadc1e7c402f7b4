r"""How much a classifier relies on keywords: one number between 0 and 1.

For a document x let f(·) be the probability of the class that the model gives to the whole document. K are the keywords
of x, R equally many random other words of x; x − K has them masked, and of x | K nothing but them is left. All means
are over the documents, those without any keyword included.

.. math::
    kept = \frac{\overline{f(x | K)} - \overline{f(x | R)}}{\overline{f(x)} - \overline{f(x | R)}}
    \qquad
    lost = \frac{\overline{f(x - R)} - \overline{f(x - K)}}{\overline{f(x - R)} - \overline{f(\emptyset)}}
    \qquad
    reliance = \frac{kept + lost}{2}

``kept`` is the confidence that bare keywords give beyond bare random words, as a share of the most there is to give:
1 when bare keywords are as good as the document. ``lost`` is the confidence that goes with the keywords beyond what
goes with random words, as a share of the most there is to lose: 1 when a document without its keywords is as good as an
empty one. Each is 0 when keywords are no better than random words (or there is nothing to give or to lose), and is cut
to [0, 1]. Not in the paper, which speaks of reliance on keywords without a measure for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from masker.errors import DataError
from masker.metrics.intervals import LEVEL, RESAMPLES, Interval, bootstrap
from masker.metrics.vectors import FloatArray, IntArray

#: A model whose confidence moves by less than this over all views does not read the words at all.
_NOTHING = 1e-9


@dataclass(frozen=True)
class Confidences:
    """(N,) probabilities of the class that the model gives to the whole document, for six views of it."""

    whole: FloatArray
    keywords_masked: FloatArray
    random_masked: FloatArray
    bare_keywords: FloatArray
    bare_random: FloatArray
    empty: FloatArray

    def __len__(self) -> int:
        return len(self.whole)


@dataclass(frozen=True)
class Reliance:
    """Reliance and its two parts."""

    reliance: float
    kept: float
    lost: float


@dataclass(frozen=True)
class RelianceIntervals:
    """The same with bootstrap intervals, or differences of the same."""

    reliance: Interval
    kept: Interval
    lost: Interval

    def to_json(self) -> dict[str, dict[str, float]]:
        """A JSON-ready form."""
        return {part.name: getattr(self, part.name).as_dict() for part in fields(self)}


def reliance(confidences: Confidences, rows: IntArray | None = None) -> Reliance:
    """The equation above.

    Args:
        confidences: What the model says of N documents.
        rows: Documents to take, repeats allowed; ``None`` takes all.
    """
    mean = {
        view.name: float(np.mean(values if rows is None else values[rows]))
        for view in fields(confidences)
        for values in (getattr(confidences, view.name),)
    }
    kept = _share(mean["bare_keywords"] - mean["bare_random"], mean["whole"] - mean["bare_random"])
    lost = _share(mean["random_masked"] - mean["keywords_masked"], mean["random_masked"] - mean["empty"])
    return Reliance((kept + lost) / 2, kept, lost)


def reliance_intervals(
    confidences: Confidences, *, resamples: int = RESAMPLES, seed: int = 0, level: float = LEVEL
) -> RelianceIntervals:
    """Reliance with its interval over documents; the keywords are taken as given."""
    return _intervals(lambda rows: reliance(confidences, rows), len(confidences), resamples, seed, level)


def reliance_difference(
    one: Confidences, other: Confidences, *, resamples: int = RESAMPLES, seed: int = 0, level: float = LEVEL
) -> RelianceIntervals:
    """Reliance of ``one`` minus that of ``other`` on the same documents, resampled together (paired).

    Raises:
        DataError: When the numbers of documents differ.
    """
    if len(one) != len(other):
        raise DataError(f"a paired difference needs the same documents; got {len(one)} and {len(other)} of them")

    def difference(rows: IntArray) -> Reliance:
        here, there = reliance(one, rows), reliance(other, rows)
        return Reliance(here.reliance - there.reliance, here.kept - there.kept, here.lost - there.lost)

    return _intervals(difference, len(one), resamples, seed, level)


def _share(part: float, whole: float) -> float:
    if whole < _NOTHING:
        return 0.0
    return min(1.0, max(0.0, part / whole))


def _intervals(
    statistic: Callable[[IntArray], Reliance], n: int, resamples: int, seed: int, level: float
) -> RelianceIntervals:
    def of(part: str) -> Interval:  # the same seed gives all parts the same resamples
        return bootstrap(lambda rows: getattr(statistic(rows), part), n, resamples=resamples, seed=seed, level=level)

    return RelianceIntervals(of("reliance"), of("kept"), of("lost"))
