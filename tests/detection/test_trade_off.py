"""The trade-off between false alarms and detected examples, by hand."""

import numpy as np
import pytest

from masker.detection.calibration import Calibration
from masker.detection.trade_off import best_rate, trade_off

HELD_OUT = np.arange(1.0, 100.0)  # 99 documents: the threshold of rate r is 100 (1 - r)


def rule_at(held_out):
    one_class = np.zeros(len(held_out), dtype=int)
    return lambda rate: Calibration.fit(held_out, one_class, 1, rate, class_conditional=False)


def best(ood, highest=None):
    return best_rate(rule_at(HELD_OUT), ood, np.zeros(len(ood), dtype=int), highest)


def test_best_rate_by_hand():
    """Examples at 91.5 (three) and 50.5 (one). Rate 0.09 has threshold 91: three of four are above, 0.75 - 0.09.

    Catching the fourth takes a threshold of 50, rate 0.5: 1 - 0.5. Below 0.09 none is above.
    """
    ood = np.array([91.5, 91.5, 91.5, 50.5])
    assert best(ood) == pytest.approx(0.09)
    assert best(ood, 0.05) == pytest.approx(0.01)  # the lowest of equals: nothing is caught
    assert best(ood, 0.0) == 0.0


def test_rows():
    ood = np.array([91.5, 91.5, 91.5, 50.5])
    rows = trade_off(rule_at(HELD_OUT), ood, np.zeros(4, dtype=int), 0.09)
    assert [row["false_alarm_rate"] for row in rows] == [0.01, 0.02, 0.05, 0.09, 0.1, 0.2]
    assert [row["detected"]["value"] for row in rows] == [0.0, 0.0, 0.0, 0.75, 0.75, 0.75]
    assert [row["threshold"] for row in rows] == pytest.approx([99, 98, 95, 91, 90, 80])
    assert [row["chosen"] for row in rows] == [False, False, False, True, False, False]


def test_few_held_out_documents_guarantee_few_rates():
    """Nine documents guarantee 1/10 and more."""
    at, ood, predicted = rule_at(np.arange(9.0)), np.array([99.0]), np.array([0])
    rows = trade_off(at, ood, predicted, best_rate(at, ood, predicted))
    assert [row["false_alarm_rate"] for row in rows] == [0.1, 0.2]


def test_the_rule_of_the_model_is_used():
    """Classes at 0 and at 100 with thresholds of their own: an example at 50 of the first is caught at any rate."""
    scores, predicted = np.concatenate([np.arange(99) / 100, 100 + np.arange(99) / 100]), np.repeat([0, 1], 99)

    def by_class(rate):
        return Calibration.fit(scores, predicted, 2, rate, class_conditional=True)

    ood, examples = np.full(3, 50.0), np.zeros(3, dtype=int)
    assert best_rate(by_class, ood, examples) == pytest.approx(0.01)
    assert trade_off(by_class, ood, examples, 0.01)[0]["detected"]["value"] == 1.0


def test_rates_that_cannot_be_promised_with_confidence_are_left_out():
    """99 documents promise 1 - 0.05^(1/99) = 2.98 % with 95 % confidence, so 3 % is the lowest rate of the grid; four
    promise 52.7 %, more than any."""

    def at(scores):
        one = np.zeros(len(scores), dtype=int)
        return lambda rate: Calibration.fit(scores, one, 1, rate, class_conditional=False, confidence=0.95)

    ood, predicted = np.array([200.0]), np.array([0])
    assert best_rate(at(HELD_OUT), ood, predicted) == pytest.approx(0.03)
    rows = trade_off(at(HELD_OUT), ood, predicted, 0.03)
    assert [row["false_alarm_rate"] for row in rows] == [0.03, 0.05, 0.1, 0.2]
    assert best_rate(at(HELD_OUT[:4]), ood, predicted) == pytest.approx(1 - 0.05 ** (1 / 4))
    assert best_rate(at(HELD_OUT[:4]), ood, predicted, 0.1) == 0.1
