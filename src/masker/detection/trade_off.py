"""What a threshold costs and what it catches, given examples of out-of-distribution texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from masker.detection.arrays import Floats, Labels
from masker.detection.calibration import Calibration
from masker.detection.conformal import least_documents, promised_rate
from masker.metrics import binomial_interval

#: The decision rule at a false-alarm rate.
RuleAt = Callable[[float], Calibration]

#: False-alarm rates that the table shows.
RATES = (0.01, 0.02, 0.05, 0.1, 0.2)
#: False-alarm rates that the operating point is chosen from.
_GRID = np.round(np.arange(1, 101) / 200, 3)


def best_rate(rule_at: RuleAt, ood: Floats, predicted: Labels, highest: float | None = None) -> float:
    """The false-alarm rate that maximises (share of examples detected) − (rate); the lowest one on a tie.

    Args:
        rule_at: The model's decision rule at any rate.
        ood: (m,) scores of out-of-distribution examples, with (m,) ``predicted`` classes.
        highest: Upper limit of the rate; ``None`` means 0.5.
    """
    rates = [float(rate) for rate in _GRID if highest is None or rate <= highest]
    rules = [rule for rule in map(rule_at, rates) if _is_possible(rule)]
    if not rules and highest is not None:
        return highest
    if not rules:
        least = rule_at(0.0)
        return promised_rate(len(least.scores), 0.0, least.confidence)
    gains = [rule.rejects(ood, predicted).mean() - rule.false_alarm_rate for rule in rules]
    return rules[int(np.argmax(gains))].false_alarm_rate


def _is_possible(rule: Calibration) -> bool:
    """Whether all held-out documents together can guarantee the rate."""
    return least_documents(rule.false_alarm_rate, rule.confidence) <= len(rule.scores)


def trade_off(rule_at: RuleAt, ood: Floats, predicted: Labels, chosen: float) -> list[dict[str, Any]]:
    """One row for the chosen rate and for each rate in :data:`RATES` that the held-out documents can guarantee.

    Returns:
        ``false_alarm_rate``, ``threshold`` (the shared one if classes have their own), ``detected`` (with a 95 %
        interval) and ``chosen``; JSON-ready.
    """
    rows = []
    for rate in sorted({*RATES, chosen}):
        rule = rule_at(rate)
        if rate != chosen and not _is_possible(rule):
            continue
        detected = binomial_interval(int(rule.rejects(ood, predicted).sum()), len(ood))
        row: dict[str, Any] = {"false_alarm_rate": rate, "threshold": rule.threshold, "detected": detected.as_dict()}
        rows.append({**row, "chosen": rate == chosen})
    return rows


def operating_point(
    rule_at: RuleAt, ood: Floats, predicted: Labels, highest: float | None = None
) -> tuple[float, list[dict[str, Any]]]:
    """The rate of :func:`best_rate`, and the rows of :func:`trade_off` around it."""
    rate = best_rate(rule_at, ood, predicted, highest)
    return rate, trade_off(rule_at, ood, predicted, rate)
