"""One stream of scores: both detectors, the alarm that stays, and what is compared with what."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from masker.monitoring.change_martingale import ChangeMartingale
from masker.monitoring.foreign_share import foreign_share
from masker.monitoring.online_p_values import ScoreMemory
from masker.monitoring.reference_martingale import CALIBRATION_LEVELS, ReferenceMartingale
from masker.monitoring.watched_group import MARTINGALE, WINDOW, Alarm, GroupLimits, WatchedGroup
from masker.monitoring.window_test import LEVELS, smallest_p_value

LIMITS = GroupLimits(window=100, memory=1000, martingale_rate=0.0025, look_level=1e-6)


def group_of(size=200, limits=LIMITS, seed=0):
    return WatchedGroup(np.random.default_rng(seed).standard_normal(size), limits, (seed,))


def observe(group, scores, first=1):
    return group.observe(scores, first + np.arange(len(scores)))


def changed(count, at, share=0.3, seed=1):
    draw = np.random.default_rng(seed)
    foreign = draw.random(count) < share
    foreign[:at] = False
    return draw.standard_normal(count) + 4 * foreign


def test_quiet():
    group = group_of()
    strange, evidence = observe(group, changed(1000, 1000))
    assert group.alarm is None and abs(strange.mean() - 0.05) < 0.03
    assert group.evidence == evidence[-1] and group.highest == max(0, evidence.max())
    assert group.foreign_share().low == 0.0
    assert len(group._recent) == 100 and group.observed == 1000


def test_alarm_stays_and_says_since_when():
    group = group_of()
    strange, _ = observe(group, changed(900, 300))
    alarm = group.alarm
    assert alarm.by == MARTINGALE and 300 < alarm.at < 400 and abs(alarm.since - 301) < 25
    assert strange[400:].mean() > 0.2
    observe(group, changed(3000, 3000, seed=2), first=901)
    assert group.alarm == alarm


def test_share_since_the_change_is_compared_with_before_it():
    """Not with a memory that foreign texts have been filling."""
    group = group_of()
    observe(group, changed(5000, 300))
    share = group.foreign_share()
    assert share.low < 0.3 < share.high and abs(share.value - 0.3) < 0.12
    fresh = group_of()
    scores = changed(900, 300)
    observe(fresh, scores[:340])
    assert fresh.alarm is not None
    assert fresh.foreign_share().texts == 340 - fresh.alarm.since + 1 < 100, "only texts since the change"


def test_the_window_alone_can_raise_it():
    group = group_of(limits=GroupLimits(100, 1000, 1e-300, 1e-4))
    observe(group, changed(900, 300))
    assert group.alarm.by == WINDOW and group.alarm.at % 10 == 0 and group.alarm.at < 420


def test_foreign_texts_from_the_first_on():
    group = group_of()
    observe(group, changed(300, 0))
    assert group.alarm is not None and group.alarm.since < 20
    assert abs(group.foreign_share().value - 0.3) < 0.15


def test_numbers_are_those_of_the_whole_traffic():
    group = group_of()
    group.observe(changed(900, 300), 10 * (1 + np.arange(900)))
    assert 3000 < group.alarm.at < 4000 and group.alarm.at % 10 == 0
    assert 2800 < group.alarm.since < 3200


def test_batches_and_a_restart_change_nothing():
    scores = changed(700, 300)
    expected = group_of()
    observe(expected, scores)
    group = group_of()
    for part in np.split(np.arange(700), [1, 2, 60, 61, 333, 500]):
        group = WatchedGroup.from_json(json.loads(json.dumps(group.to_json())), LIMITS)
        group.observe(scores[part], part + 1)
    found, wanted = group.state(), expected.state()
    assert found.pop("evidence") == pytest.approx(wanted.pop("evidence"))
    assert found.pop("highest_evidence") == pytest.approx(wanted.pop("highest_evidence"))
    assert found == wanted


def test_the_past_is_thinned_out_but_its_beginning_stays():
    group = group_of()
    observe(group, changed(6_000, 6_000))
    assert len(group._past) < 50 and group._past[0][0] == 0
    assert group._before(5_900)[0] == group._past[-11][2][0], "the window's own reference is there"


def test_without_a_calibration():
    group = group_of(0)
    observe(group, changed(5, 5))
    assert group.foreign_share() is None, "nothing to compare with yet"
    observe(group, changed(1500, 700), first=6)
    assert group.alarm is not None and 700 < group.alarm.at < 900


def test_nothing_observed():
    group = group_of()
    strange, evidence = observe(group, np.empty(0))
    assert len(strange) == len(evidence) == 0
    assert group.state()["alarm"] is False and group.state()["foreign_share"] is None


def test_before_the_first_text():
    state = group_of().state()
    assert (state["evidence"], state["highest_evidence"]) == (0.0, 0.0)
    assert (state["window_p_value"], state["lowest_window_p_value"]) == (1.0, 1.0)
    assert state["evidence_limit"] == pytest.approx(-math.log10(0.0025)) and state["window_limit"] == 1e-6


def test_both_strategies_have_half_of_the_capital():
    calibration, scores = np.random.default_rng(0).standard_normal(200), np.array([0.3, 9.0, 9.0, 9.0])
    _, evidence = observe(group_of(), scores)
    memory = ScoreMemory(1000, (0,))
    memory.remember(calibration)
    reference = ReferenceMartingale(memory.exceedances(CALIBRATION_LEVELS))
    ranked, p_values = memory.rank(scores)
    halves = ChangeMartingale().update(p_values, np.arange(1, 5)) / 2, reference.update(ranked) / 2
    np.testing.assert_allclose(evidence, np.log10(halves[0] + halves[1]))
    assert halves[0][-1] != pytest.approx(halves[1][-1])


def test_the_window_holds_scores_and_their_numbers():
    group = group_of()
    observe(group, changed(5, 5), first=11)
    assert len(group._recent) == 5 and group._recent_at.tolist() == [11, 12, 13, 14, 15]


EVERY_TEXT = GroupLimits(window=10, memory=1000, martingale_rate=1e-300, look_level=1e-300)


def test_the_window_is_compared_with_what_came_before_it():
    """Window 10, a look after each text: after 30 texts, the last ten with the calibration and the first twenty."""
    group, scores = group_of(limits=EVERY_TEXT), changed(30, 15)
    observe(group, scores[:20])
    before = group._memory.exceedances(LEVELS)
    observe(group, scores[20:], first=21)
    assert group.window_p_value == smallest_p_value(group._recent, before)
    assert group.foreign_share() == foreign_share(group._recent, before)


def test_a_change_is_compared_with_what_came_before_its_first_text():
    group, scores = group_of(limits=EVERY_TEXT), changed(30, 20, share=1.0)
    observe(group, scores[:20])
    before = group._memory.exceedances(LEVELS)
    observe(group, scores[20:], first=21)
    group.alarm = Alarm(at=25, since=21, by=WINDOW)
    assert group.foreign_share() == foreign_share(group._recent, before)
    group.alarm = Alarm(at=25, since=1, by=WINDOW)
    assert group.foreign_share() == foreign_share(group._recent, group_of()._memory.exceedances(LEVELS))


def test_the_past_is_thinned_out_by_hand():
    """Window 10, a look after each text. After 43 texts 33 states are older than the window: every other one goes."""
    group = group_of(limits=EVERY_TEXT)
    observe(group, changed(42, 42))
    assert [seen for seen, _, _ in group._past] == list(range(43))
    observe(group, changed(1, 1), first=43)
    assert [seen for seen, _, _ in group._past] == [*range(0, 33, 2), *range(33, 44)]
    assert [position for _, position, _ in group._past] == [*range(0, 33, 2), *range(33, 44)]


def test_after_an_alarm_texts_are_strange_that_would_have_been_before():
    """Foreign texts that have filled the memory still count; those until the alarm keep what their p-values said."""
    group, again = group_of(), group_of()
    strange, _ = observe(group, changed(400, 300, share=0.6))
    scores, p_values = again._memory.rank(changed(400, 300, share=0.6))
    known = next(past for _, position, past in reversed(group._past) if position < group.alarm.since)
    at = group.alarm.at
    np.testing.assert_array_equal(strange[:at], p_values[:at] <= 0.05)
    np.testing.assert_array_equal(strange[at:], scores[at:] > known[LEVELS.index(0.05)].score)
    assert (p_values[350:] <= 0.05).mean() < 0.45 < 0.55 < strange[350:].mean() < 0.8


def test_after_an_alarm_a_text_is_strange_above_the_score_of_before_and_not_at_it():
    """Of the text that raised the alarm its p-value, here 1, decides as of all before."""
    group = group_of()
    observe(group, changed(400, 300, share=0.6))
    at, known = group.alarm.at, group._before_change(group.alarm)[LEVELS.index(0.05)].score
    scores, positions = np.array([known + 1, known, known + 1]), np.array([at, at + 1, at + 1])
    assert group._strange(scores, np.ones(3), positions).tolist() == [False, False, True]


def test_an_alarm_before_anything_is_known_of_quiet_times():
    """Without a calibration, and before the first look, p-values are all there is."""
    group = group_of(0, GroupLimits(window=1000, memory=1000, martingale_rate=0.0025, look_level=1e-6))
    strange, _ = observe(group, changed(90, 50, share=1.0))
    assert group.alarm is not None and group.alarm.at < 90
    assert strange[50:60].mean() > 0.4 and group.foreign_share() is None


@pytest.mark.parametrize("past", [[], [[5, 0]]])
def test_a_past_without_its_beginning_is_refused(past):
    with pytest.raises(ValueError, match="the beginning of the past is missing"):
        WatchedGroup.from_json({**group_of().to_json(), "past": past}, LIMITS)
