from __future__ import annotations

from masker.monitoring.drift_words import drift_sentence

SHARE = {"value": 0.113, "low": 0.061, "high": 0.178, "texts": 500}
PROMISE = {"alarm_rate": 0.01, "horizon": 100_000}


def state(observed=3000, whole=False, alarms=(), share=None, time=None):
    classes = [
        {"label": label, "alarm": label in alarms, "highest_evidence": place, "foreign_share": SHARE}
        for place, label in enumerate(["refund", "delivery", "login", "other", 5])
    ]
    return {
        "observed": observed, "alarm": whole or bool(alarms), "since": 1504, "since_time": time, "settings": PROMISE,
        "foreign_share": share, "whole": {"alarm": whole, "foreign_share": share}, "classes": classes,
    }  # fmt: skip


def test_quiet():
    assert drift_sentence(state(0)) == "No text has been seen yet."
    assert drift_sentence(state(1)) == "No sign of a change in 1 text."
    assert drift_sentence(state(12_400, share={**SHARE, "low": 0.0})) == (
        "No sign of a change in 12,400 texts; at most 18 % of the last 500 are foreign."
    )
    few = drift_sentence(state(4, share={**SHARE, "low": 0.0, "high": 0.9}))
    assert few == "No sign of a change in 4 texts, too few to say more."
    assert drift_sentence(state(12_400, share=SHARE)).endswith("about 11 % of the last 500 are foreign (6 to 18 %).")


def test_alarm_on_the_whole():
    assert drift_sentence(state(whole=True, share=SHARE, time="2024-05-08")) == (
        "Alarm: since about text 1,504 (2024-05-08), texts look stranger than before; about 11 % of the last 500 are "
        "foreign (6 to 18 %); the chance of a false alarm is at most 1 % in 100,000 texts."
    )


def test_alarm_with_classes():
    assert "most clearly among those labelled 'refund';" in drift_sentence(
        state(whole=True, alarms=["refund"])
    ).replace("; the chance", ";")
    three = drift_sentence(state(whole=True, alarms=["refund", "login", 5]))
    assert "labelled '5', 'login' and 'refund'" in three
    five = drift_sentence(state(whole=True, alarms=["refund", "delivery", "login", "other", 5]))
    assert "labelled '5', 'other', 'login' and 2 more" in five


def test_alarm_in_one_class_only():
    assert drift_sentence(state(alarms=["login"], share=None)).startswith(
        "Alarm: since about text 1,504, texts labelled 'login' look stranger than before; about 11 % of the last 500"
    )


def test_percentages_of_large_shares():
    share = {"value": 0.9, "low": 0.8, "high": 1.0, "texts": 500}
    assert "about 90 % of the last 500 are foreign (80 to 100 %)" in drift_sentence(state(share=share))
    assert "at most 89 % of" in drift_sentence(state(share={**share, "low": 0.0, "high": 0.89}))
