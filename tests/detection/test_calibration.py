"""The decision rule: thresholds for all and for each predicted class, and the guarantee over many draws."""

import numpy as np
import pytest
from scipy.stats import beta, binom

from masker.detection.calibration import Calibration

SCORES = np.arange(1.0, 21.0)
PREDICTED = np.array([0] * 10 + [1] * 10)


def rule(rate=0.1, class_conditional=True):
    return Calibration.fit(SCORES, PREDICTED, 3, rate, class_conditional=class_conditional)


def test_thresholds_by_hand():
    """Rate 0.1. All: k = ceil(21 * 0.9) = 19. Each class of ten: k = ceil(11 * 0.9) = 10, so 10 and 20; class 2 has no
    held-out documents and gets the threshold of all."""
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


def test_classes_too_small_for_a_threshold_share_one_of_their_own():
    """Rate 0.25 takes 3 documents. Class 0 has 7, k = ceil(8 * 0.75) = 6: 6. Classes 1 and 2 have 2 and 1, together
    3 documents, k = ceil(4 * 0.75) = 3: 30. Their p-values are among these three."""
    scores = np.array([1.0, 2, 3, 4, 5, 6, 7, 10, 20, 30])
    found = Calibration.fit(scores, np.array([0] * 7 + [1, 1, 2]), 4, 0.25, class_conditional=True)
    assert found.thresholds.tolist() == [6.0, 30.0, 30.0, 30.0]
    assert found.p_values(np.array([8.0, 8.0, 25.0]), np.array([0, 1, 2])) == pytest.approx([1 / 8, 1.0, 0.5])
    assert found.promised == 0.25
    fewer = Calibration.fit(scores[:-1], np.array([0] * 7 + [1, 1]), 4, 0.25, class_conditional=True)
    assert fewer.promised == pytest.approx(1 / 3), "two documents are behind the shared threshold"


def test_classes_apart_share_a_threshold_among_themselves():
    """Classes 1 and 2 are apart: of their scores 11 to 30 the 20th is the threshold at 5 %; of 1 to 20, the 20th."""
    scores, predicted = np.concatenate([np.arange(1.0, 21), np.arange(11.0, 31)]), np.repeat([0, 1, 2], [20, 10, 10])
    apart = np.array([False, True, True])
    rule = Calibration.fit(scores, predicted, 3, 0.05, class_conditional=False, apart=apart)
    assert rule.thresholds.tolist() == [20, 30, 30] and rule.promised == 0.05 and rule.threshold == 30
    assert rule.rejects(np.array([25.0, 25.0]), np.array([0, 2])).tolist() == [True, False]
    np.testing.assert_allclose(rule.p_values(np.array([21.0, 21.0]), np.array([0, 1])), [1 / 21, 11 / 21])


def test_too_few_documents_of_classes_apart_share_with_the_rest():
    scores, predicted = np.arange(1.0, 31), np.repeat([0, 1], [20, 10])
    rule = Calibration.fit(scores, predicted, 2, 0.05, class_conditional=False, apart=np.array([False, True]))
    assert rule.apart is None and rule.thresholds.tolist() == [30, 30]


def test_rare_classes_do_not_break_the_guarantee():
    """One class has 95 of 100 documents; fifty others, which score higher, have the rest."""
    draw = np.random.default_rng(0)

    def documents(count):
        rare = draw.random(count) < 0.05
        return draw.normal(size=count) + 4 * rare, np.where(rare, draw.integers(1, 51, count), 0)

    alarms, rare_alarms = [], []
    for _ in range(200):
        rule = Calibration.fit(*documents(1000), 51, 0.05, class_conditional=True)
        scores, predicted = documents(1000)
        rejected = rule.rejects(scores, predicted)
        alarms.append(rejected.mean())
        rare_alarms.append(rejected[predicted > 0].mean())
    assert np.mean(alarms) <= 0.053 and np.mean(rare_alarms) <= 0.06


def test_a_threshold_from_outside_is_for_all_and_guarantees_nothing():
    assert rule().with_threshold(7.0).promised is None
    assert rule().with_threshold(7.0).rejects(np.array([6.9, 7.0, 7.1]), np.arange(3)).tolist() == [False, False, True]


@pytest.mark.parametrize("class_conditional", [False, True])
def test_the_guarantee_holds_over_many_draws(class_conditional):
    """Two classes whose scores differ in level and in spread; 3000 times 60 + 40 held-out documents and a new one each.

    A shared threshold keeps the guarantee overall and breaks it for the wider class; thresholds for each class keep it
    for both.
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
        assert (alarms >= binom.ppf(1e-6, trials, 0.07)).all(), "no more careful than necessary"
    else:
        assert 0.6 * alarms[0] + 0.4 * alarms[1] <= limit
        assert alarms[1] > limit


class TestConfidence:
    def test_thresholds_by_hand(self):
        """Rate 0.5 with 0.9. Ten: P(Bin(10, 1/2) >= 3) = 0.945 and P(... >= 4) = 0.828, so k = 10 + 1 - 3 = 8.
        Twenty: P(Bin(20, 1/2) >= 7) = 0.942 and P(... >= 8) = 0.868, so k = 14."""
        found = Calibration.fit(SCORES, PREDICTED, 3, 0.5, class_conditional=True, confidence=0.9)
        assert found.thresholds.tolist() == [8.0, 18.0, 14.0] and found.promised == 0.5

    def test_a_class_needs_enough_documents_for_the_bound(self):
        """Rate 0.2 takes 4 documents on average, and 11 with 0.9: 1 - 0.8^10 = 0.893. Each class has 10."""
        assert rule(0.2).by_class.tolist() == [True, True, False]
        found = Calibration.fit(SCORES, PREDICTED, 3, 0.2, class_conditional=True, confidence=0.9)
        assert not found.by_class.any() and found.promised == 0.2
        found = Calibration.fit(SCORES, PREDICTED, 3, 0.05, class_conditional=False, confidence=0.9)
        assert found.threshold == 20.0 and found.promised == pytest.approx(1 - 0.1 ** (1 / 20))

    def test_interval(self):
        """All 20: k = 19, Beta(2, 19). If classes have their own thresholds, it covers theirs: k = 10, Beta(1, 10)."""
        assert rule(class_conditional=False).rate_interval == pytest.approx(beta.ppf([0.05, 0.95], 2, 19))
        low, high = rule().rate_interval
        assert low == pytest.approx(beta.ppf(0.05, 1, 10)) and high == pytest.approx(beta.ppf(0.95, 1, 10))
        assert rule().with_threshold(7.0).rate_interval is None

    def test_it_holds_in_each_class_over_many_draws(self):
        """1000 times 80 + 60 documents; a class's scores are exponential, the second's three times as wide."""
        draw, trials, above = np.random.default_rng(3), 1000, np.zeros(2)
        predicted, width = np.repeat([0, 1], [80, 60]), np.array([1.0, 3.0])
        for _ in range(trials):
            scores = draw.exponential(size=140) * width[predicted]
            found = Calibration.fit(scores, predicted, 2, 0.05, class_conditional=True, confidence=0.9)
            above += np.exp(-found.thresholds / width) > 0.05
        assert found.by_class.all() and (above <= binom.ppf(1 - 1e-6, trials, 0.1)).all()
        assert (above > 0).all()


def test_without_held_out_documents_nothing_is_rejected_and_nothing_promised():
    found = Calibration.fit(np.empty(0), np.empty(0, dtype=np.int64), 3, 0.05, class_conditional=True)
    assert found.thresholds.tolist() == [np.inf] * 3 and found.finite_threshold is None
    assert (found.promised, found.rate_interval) == (None, None)
    scores, predicted = np.array([0.0, 1e9]), np.array([0, 2])
    assert not found.rejects(scores, predicted).any()
    assert found.p_values(scores, predicted).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("rate", [0.5, 1.0])
def test_the_least_that_a_threshold_takes(rate):
    """A rate of 1/2 takes one document, a rate of 1 none; but no class has a threshold of its own from nothing."""
    found = Calibration.fit(np.array([1.0]), np.array([0]), 2, rate, class_conditional=True)
    assert found.by_class.tolist() == [True, False]


def test_just_enough_documents_are_apart():
    """Rate 0.25 takes 3 documents: the third of 10, 20, 30 is the threshold of class 1, 3 that of class 0."""
    scores, apart = np.array([1.0, 2.0, 3.0, 10.0, 20.0, 30.0]), np.array([False, True])
    found = Calibration.fit(scores, np.array([0, 0, 0, 1, 1, 1]), 2, 0.25, class_conditional=False, apart=apart)
    assert found.thresholds.tolist() == [3.0, 30.0]
