r"""How much a classifier relies on keywords: one number between 0 and 1.

For a document x, let f(·) be the probability of the class that the model predicts for the whole document. K are the
keywords of x, R as many random other words of x; x − K is x with K masked, x | K is x with everything but K masked, and
∅ has everything masked. Means are over all documents, including those without a keyword.

.. math::
    kept = \frac{\overline{f(x | K)} - \overline{f(x | R)}}{\overline{f(x)} - \overline{f(x | R)}}
    \qquad
    lost = \frac{\overline{f(x - R)} - \overline{f(x - K)}}{\overline{f(x - R)} - \overline{f(\emptyset)}}
    \qquad
    reliance = \frac{kept + lost}{2}

``kept`` is the confidence that bare keywords give beyond bare random words, as a share of the possible gain: 1 if bare
keywords are as good as the document. ``lost`` is the confidence that masking keywords costs beyond masking random
words, as a share of the possible loss: 1 if a document without its keywords is no better than an empty one. Each is 0
if keywords do no more than random words (or there is nothing to gain or lose), and is clipped to [0, 1]. Not in the
paper, which speaks of reliance on keywords but does not measure it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from masker.errors import DataError
from masker.metrics.intervals import LEVEL, RESAMPLES, Interval, bootstrap
from masker.metrics.vectors import FloatArray, IntArray

#: A model whose confidence varies less than this between views ignores the words.
_NOTHING = 1e-9


@dataclass(frozen=True)
class Confidences:
    """(N,) probabilities of the class predicted for the whole document, for six views of it."""

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
    """Reliance and its parts with bootstrap intervals, or differences of them."""

    reliance: Interval
    kept: Interval
    lost: Interval

    def to_json(self) -> dict[str, dict[str, float]]:
        return {part.name: getattr(self, part.name).as_dict() for part in fields(self)}


def reliance(confidences: Confidences, rows: IntArray | None = None) -> Reliance:
    """The equation above, for the given rows, repeats allowed; ``None`` uses all."""
    chosen = slice(None) if rows is None else rows
    mean = {view.name: float(np.mean(getattr(confidences, view.name)[chosen])) for view in fields(confidences)}
    kept = _share(mean["bare_keywords"] - mean["bare_random"], mean["whole"] - mean["bare_random"])
    lost = _share(mean["random_masked"] - mean["keywords_masked"], mean["random_masked"] - mean["empty"])
    return Reliance((kept + lost) / 2, kept, lost)


def reliance_intervals(
    confidences: Confidences, *, resamples: int = RESAMPLES, seed: int = 0, level: float = LEVEL
) -> RelianceIntervals:
    """Reliance with bootstrap intervals over documents, for fixed keywords."""
    return _intervals(lambda rows: reliance(confidences, rows), len(confidences), resamples, seed, level)


def reliance_difference(
    one: Confidences, other: Confidences, *, resamples: int = RESAMPLES, seed: int = 0, level: float = LEVEL
) -> RelianceIntervals:
    """Reliance of ``one`` minus that of ``other``, by a paired bootstrap over the same documents."""
    if len(one) != len(other):
        raise DataError(
            f"a paired difference needs the same documents for both models; got {len(one)} and {len(other)} documents"
        )

    def difference(rows: IntArray) -> Reliance:
        here, there = reliance(one, rows), reliance(other, rows)
        return Reliance(here.reliance - there.reliance, here.kept - there.kept, here.lost - there.lost)

    return _intervals(difference, len(one), resamples, seed, level)


def _share(part: float, whole: float) -> float:
    return 0.0 if whole < _NOTHING else min(1.0, max(0.0, part / whole))


def _intervals(
    statistic: Callable[[IntArray], Reliance], n: int, resamples: int, seed: int, level: float
) -> RelianceIntervals:
    def of(part: str) -> Interval:  # one seed, so all parts share their resamples
        return bootstrap(lambda rows: getattr(statistic(rows), part), n, resamples=resamples, seed=seed, level=level)

    return RelianceIntervals(of("reliance"), of("kept"), of("lost"))
