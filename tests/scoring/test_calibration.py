"""The decision rule: thresholds for all and for each predicted class, and the promise over many draws."""

import numpy as np
import pytest
from scipy.stats import binom

from masker.scoring.calibration import Calibration
from masker.scoring.trade_off import best_rate, trade_off

SCORES = np.arange(1.0, 21.0)
PREDICTED = np.array([0] * 10 + [1] * 10)


def rule(rate=0.1, class_conditional=True):
    return Calibration.fit(SCORES, PREDICTED, 3, rate, class_conditional=class_conditional)


def test_thresholds_by_hand():
    """Rate 0.1. All: k = ceil(21 * 0.9) = 19. Each class of ten: k = ceil(11 * 0.9) = 10, so 10 and 20; class 2 has no
    held-out documents and takes the threshold of all."""
    assert rule(class_conditional=False).thresholds.tolist() == [19.0, 19.0, 19.0]
    by_class = rule()
    assert by_class.thresholds.tolist() == [10.0, 20.0, 19.0]
    assert by_class.by_class.tolist() == [True, True, False]
    assert by_class.threshold == 19.0
    scores = np.array([10.0, 10.5, 19.5, 20.5, 19.5])
    assert by_class.rejects(scores, np.array([0, 0, 1, 1, 2])).tolist() == [False, True, False, True, True]


def test_p_values_by_hand():
    """10.5 in class 0: none of ten is as high, 1/11. In class 1 all ten are: 1. Class 2 and all: ten of 20, 11/21."""
    scores = np.full(3, 10.5)
    assert rule().p_values(scores, np.arange(3)) == pytest.approx([1 / 11, 1.0, 11 / 21])
    assert rule(class_conditional=False).p_values(scores, np.arange(3)) == pytest.approx([11 / 21] * 3)


def test_a_class_needs_enough_documents_for_a_threshold_of_its_own():
    """Rate 0.05 takes 19 documents; no class has them, but all together do."""
    assert not rule(0.05).by_class.any()
    assert rule(0.05).promised == 0.05
    assert rule(0.01).promised == pytest.approx(1 / 21)


def test_another_threshold_is_for_all():
    assert rule().with_threshold(7.0).rejects(np.array([6.9, 7.0, 7.1]), np.arange(3)).tolist() == [False, False, True]


@pytest.mark.parametrize("class_conditional", [False, True])
def test_promise_holds_over_many_draws(class_conditional):
    """Two classes whose scores differ in level and in spread; 3000 times 60 + 40 held-out documents and a new one each.

    A shared threshold keeps the promise on the whole and breaks it for the wider class; thresholds for each class keep
    it for both.
    """
    draw = np.random.default_rng(int(class_conditional))
    trials, rate = 3000, 0.1
    alarms = np.zeros(2)
    for _ in range(trials):
        predicted = np.array([0] * 60 + [1] * 40)
        scores = np.where(predicted == 0, draw.normal(size=100), 1 + 3 * draw.normal(size=100))
        found = Calibration.fit(scores, predicted, 2, rate, class_conditional=class_conditional)
        new = np.array([draw.normal(), 1 + 3 * draw.normal()])
        alarms += found.rejects(new, np.array([0, 1]))
    limit = binom.ppf(1 - 1e-6, trials, rate)
    if class_conditional:
        assert (alarms <= limit).all()
        assert (alarms >= binom.ppf(1e-6, trials, 0.07)).all(), "not more careful than it has to be"
    else:
        assert 0.6 * alarms[0] + 0.4 * alarms[1] <= limit
        assert alarms[1] > limit


class TestTradeOff:
    HELD_OUT = np.arange(1.0, 100.0)  # 99 documents: the threshold of rate r is 100 (1 - r)

    def test_best_rate_by_hand(self):
        """Examples at 91.5 (three) and 50.5 (one). Rate 0.09 has threshold 91: three of four are above, 0.75 - 0.09.

        Catching the fourth takes a threshold of 50, rate 0.5: 1 - 0.5. Below 0.09 none is above.
        """
        ood = np.array([91.5, 91.5, 91.5, 50.5])
        assert best_rate(self.HELD_OUT, ood) == pytest.approx(0.09)
        assert best_rate(self.HELD_OUT, ood, 0.05) == pytest.approx(0.01)  # the lowest of equals: nothing is caught

    def test_rows(self):
        rows = trade_off(self.HELD_OUT, np.array([91.5, 91.5, 91.5, 50.5]), 0.09)
        assert [row["false_alarm_rate"] for row in rows] == [0.01, 0.02, 0.05, 0.09, 0.1, 0.2]
        assert [row["detected"]["value"] for row in rows] == [0.0, 0.0, 0.0, 0.75, 0.75, 0.75]
        assert [row["threshold"] for row in rows] == pytest.approx([99, 98, 95, 91, 90, 80])
        assert [row["chosen"] for row in rows] == [False, False, False, True, False, False]

    def test_few_held_out_documents_promise_few_rates(self):
        """Nine documents promise 1/10 and more."""
        rows = trade_off(np.arange(9.0), np.array([99.0]), best_rate(np.arange(9.0), np.array([99.0])))
        assert [row["false_alarm_rate"] for row in rows] == [0.1, 0.2]
