"""One stream of scores: both detectors, the alarm that stays, and what is compared with what."""

from __future__ import annotations

import json

import numpy as np
import pytest

from masker.monitoring.watched_group import MARTINGALE, WINDOW, GroupLimits, WatchedGroup

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
