"""What a threshold costs and what it catches, when there are examples of out-of-distribution texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from masker.metrics import binomial_interval
from masker.scoring.conformal import conformal_threshold, least_documents

Floats = npt.NDArray[np.float64]

#: False-alarm rates that a table shows.
RATES = (0.01, 0.02, 0.05, 0.1, 0.2)
#: Rates that an operating point is sought among.
_GRID = np.round(np.arange(1, 101) / 200, 3)


def best_rate(held_out: Floats, ood: Floats, highest: float | None = None) -> float:
    """The false-alarm rate at which (share of examples detected) − (rate) is largest; the lower one of equals.

    Args:
        held_out: (n,) scores of held-out in-distribution documents.
        ood: (m,) scores of out-of-distribution examples.
        highest: The rate may not exceed this; ``None``: a half.
    """
    rates = [float(rate) for rate in _GRID if least_documents(float(rate)) <= len(held_out)]
    rates = [rate for rate in rates if highest is None or rate <= highest] or [highest or 1.0 / (len(held_out) + 1)]
    gains = [(ood > conformal_threshold(held_out, rate)).mean() - rate for rate in rates]
    return rates[int(np.argmax(gains))]


def trade_off(held_out: Floats, ood: Floats, chosen: float) -> list[dict[str, Any]]:
    """A row for each rate that the held-out documents can promise, the chosen one among them.

    Returns:
        ``false_alarm_rate``, ``threshold``, ``detected`` (with a 95 % interval) and ``chosen``; ready for JSON.
    """
    rows = []
    possible = {rate for rate in RATES if least_documents(rate) <= len(held_out)}
    for rate in sorted({*possible, chosen}):
        threshold = conformal_threshold(held_out, rate)
        detected = binomial_interval(int((ood > threshold).sum()), len(ood))
        row: dict[str, Any] = {"false_alarm_rate": rate, "threshold": threshold, "detected": detected.as_dict()}
        rows.append({**row, "chosen": rate == chosen})
    return rows
