"""Is one system better than another? A paired test over training runs.

A unit is a pair of runs with the same training corpus, encoder and seed; its difference is the mean over its test sets.
The test sets of a unit are scored by the same two models, so they are not independent evidence; counting each of them
would make chance look like proof.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

#: Figures for which lower is better.
LOWER_IS_BETTER = ("eer", "fpr_at_tpr95", "ece", "reliance", "false_alarms")
#: Up to 2^16 sign patterns are enumerated; beyond that, as many are drawn.
_PATTERNS = 2**16


@dataclass(frozen=True)
class Paired:
    """The outcome of a paired comparison."""

    cells: int  # pairs of figures compared
    wins: int  # in how many of them the system was better
    difference: float  # mean over units, in points; positive means that the system is better
    units: int  # independent pairs of training runs
    p_value: float  # two-sided, from flipping the signs of the units' differences
    smallest_p: float  # the smallest p-value possible with this number of units

    def rounded(self) -> dict[str, Any]:
        return {name: round(value, 4) for name, value in asdict(self).items()}


def compare_paired(
    system: Mapping[tuple[Hashable, Hashable], float],
    baseline: Mapping[tuple[Hashable, Hashable], float],
    *,
    lower_is_better: bool = False,
) -> Paired | None:
    """Compare figures by (unit, test set); ``None`` if the two have no cell in common."""
    common = [key for key in system if key in baseline]
    if not common:
        return None
    sign = -1.0 if lower_is_better else 1.0
    differences = {key: sign * (system[key] - baseline[key]) for key in common}
    units: dict[Hashable, list[float]] = {}
    for (unit, _), difference in differences.items():
        units.setdefault(unit, []).append(difference)
    means = [float(np.mean(values)) for values in units.values()]
    return Paired(
        cells=len(common),
        wins=sum(difference > 0 for difference in differences.values()),
        difference=float(np.mean(means)),
        units=len(means),
        p_value=sign_flip_p_value(means),
        smallest_p=min(1.0, 2.0 / 2 ** len(means)),
    )


def sign_flip_p_value(differences: Sequence[float]) -> float:
    """Two-sided p-value of the mean: how often it would be as far from 0 if each sign were a coin toss."""
    values = np.asarray(differences, dtype=np.float64)
    count = len(values)
    if 2**count <= _PATTERNS:
        bits = (np.arange(2**count)[:, None] >> np.arange(count)) & 1  # (2^n, n)
    else:
        bits = np.random.default_rng(0).integers(0, 2, size=(_PATTERNS, count))
        bits[0] = 1  # the observed signs are one of the patterns, so p is never 0
    sums = np.abs((2 * bits - 1) @ values)
    # Sums that differ only by rounding count as equal.
    reached = abs(values.sum()) - 1e-9 * np.abs(values).sum()
    return float(np.mean(sums >= reached))
