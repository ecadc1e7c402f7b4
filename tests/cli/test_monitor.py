"""``masker monitor``."""

from __future__ import annotations

import json
import shutil

from masker.monitoring import MonitorSettings
from tests.cli.command_line import last_line, one_line, run, write_jsonl
from tests.conftest import make_corpus


def test_quiet_traffic_ends_with_0(score_place, tmp_path):
    data = write_jsonl(tmp_path / "quiet.jsonl", make_corpus(60, seed=11)[0])
    done = run("monitor", str(score_place / "model"), str(data), "--plot", str(tmp_path / "drift.svg"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("No sign of a change in 60 texts; at most")
    assert "all together" in done.stdout and "space" in done.stdout
    assert "the chance of a false alarm is at most 1 % in 100,000 texts" in done.stdout
    assert (tmp_path / "drift.svg").read_text().lstrip().startswith("<?xml")


def test_an_alarm_ends_with_3_and_stays(score_place, tmp_path):
    foreign = [f"zzz {'qqq ' * (n % 5)}{n}" for n in range(60)]
    data = write_jsonl(tmp_path / "changed.jsonl", make_corpus(60, seed=11)[0] + foreign)
    words = ["monitor", str(score_place / "model"), str(data), "--state", str(tmp_path / "state.json")]
    done = run(*words, "--json", "--alarm-rate", "0.05", "--horizon", "1000", "--window", "100")
    assert done.returncode == 3, done.stderr
    state = json.loads(done.stdout)
    assert state["alarm"] and state["observed"] == 120
    assert {name: state["settings"][name] for name in ("alarm_rate", "horizon", "window")} == {
        "alarm_rate": 0.05, "horizon": 1000, "window": 100,
    }  # fmt: skip
    quiet = write_jsonl(tmp_path / "quiet.jsonl", make_corpus(10, seed=12)[0])
    again = run("monitor", str(score_place / "model"), str(quiet), "--state", str(tmp_path / "state.json"))
    assert again.returncode == 3 and again.stdout.startswith("Alarm: since about text")


def test_wrong_input_is_one_line(score_place, tmp_path):
    model, data = str(score_place / "model"), str(score_place / "new.jsonl")
    assert "must end in .svg or .png" in one_line(run("monitor", model, data, "--plot", "x.pdf"))
    assert "leave --label-column out" in one_line(run("monitor", model, data, "--label-column", "label"))
    assert "alarm_rate: must lie between 0 and 1; got 2.0" in one_line(run("monitor", model, data, "--alarm-rate", "2"))
    assert "pass --time-column" in last_line(run("monitor", model, data, "--time-column", "when"))
    assert not list(tmp_path.iterdir())


def test_a_recalibrated_model_needs_a_new_state(score_model, score_place, tmp_path):
    data, state = str(score_place / "unlabelled.jsonl"), str(tmp_path / "state.json")
    assert run("monitor", score_model, data, "--state", state).returncode in (0, 3)
    moved = shutil.copytree(score_model, tmp_path / "moved")
    assert run("monitor", str(moved), data, "--state", state).returncode in (0, 3), "a model may move"
    assert run("calibrate", score_model, str(score_place / "new.jsonl")).returncode == 0
    assert "name another file to start anew" in one_line(run("monitor", score_model, data, "--state", state))


def test_help_names_the_defaults():
    shown = " ".join(run("monitor", "--help").stdout.split())
    defaults = MonitorSettings()
    for value in (defaults.alarm_rate, defaults.horizon, defaults.window):
        assert f"[default: {value}]" in shown
    assert "3: an alarm" in shown
