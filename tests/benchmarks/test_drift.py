from __future__ import annotations

import json

import pytest

from benchmarks import drift, environments


def test_the_least_strict_level_that_keeps_the_rate():
    levels = {"0.1": [5, None] * 100, "0.01": [5] + [None] * 199, "0.001": [None] * 200}
    assert drift._strictest(levels) == "0.01"
    assert drift._strictest({"0.1": [5], "0.01": [5]}) == "0.01", "the strictest, if none does"


def test_parts_without_what_they_need_are_skipped(monkeypatch, tmp_path):
    monkeypatch.setenv(environments.RIVER.variable, str(tmp_path))
    monkeypatch.setenv("MASKER_DATA", str(tmp_path))
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "cache"))
    assert "benchmarks.environments river" in drift.missing("river")
    assert "no corpus hwu64, snips, sst2" in drift.missing("corpora")
    assert drift.missing("quiet") is None


def test_a_part_is_added_to_what_is_stored(monkeypatch, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(drift.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(drift, "RESULTS", tmp_path / "drift.json")
    monkeypatch.setattr(drift, "PAGE", page)
    monkeypatch.setattr(drift, "PICTURE", tmp_path / "drift.svg")
    monkeypatch.setattr(drift, "COST_TEXTS", 200)
    monkeypatch.setattr(drift, "AFTER", 500)
    monkeypatch.setattr("sys.argv", ["drift", "--only", "cost"])
    (tmp_path / "drift.json").write_text(json.dumps({"cost": 0, "before": 1}))
    drift.main()
    stored = json.loads((tmp_path / "drift.json").read_text())
    assert stored["before"] == 1 and set(stored["cost"]["microseconds"]) == {"1000", "32", "1"}
    assert stored["auroc"]["2.5"] == pytest.approx(0.95, abs=0.01)
    assert "| 1,000 | " in page.read_text() and (tmp_path / "drift.svg").exists()


def test_figures_of_a_change(monkeypatch):
    monkeypatch.setattr(drift, "STREAMS", 3)
    row = drift._change_row(drift.Truth(200, 1600, 300, 0.3, 6.0))
    assert row["found"] == 1.0 and row["median"] < 100 and row["start_error"] < 30
    assert abs(row["estimate"] - 0.3) < 0.1 and row["covered"] > 0.6


def test_would_alarm_is_what_an_alarm_is():
    """At the limits that the monitor itself had, and not at stricter ones that it did not reach."""
    for seed in range(4):
        stream = drift.make_stream(drift.Truth(100, 600, 300, 0.1 * seed, 4.0), seed)
        state = drift.watch(stream, drift.LOOSE, until=600).state()
        assert drift.would_alarm(state, drift.LOOSE) == state["alarm"]
        assert not drift.would_alarm(state, drift.MonitorSettings(alarm_rate=1e-300))
