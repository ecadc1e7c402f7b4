"""Files in, states out."""

from __future__ import annotations

import json
import logging

import numpy as np
import pytest

from masker import ConfigError, DataError
from masker.commands import monitor as module
from masker.commands.monitor import MonitorOptions, monitor, open_monitor
from masker.config import DataSettings
from masker.detection.calibration import Calibration
from masker.detection.detector import Judgement

CLASSES = ["a", "b"]


class FakeModel:
    """Reads the score off the text, and the class off its last letter; remembers how many texts came at once."""

    labels = CLASSES
    is_regression = False

    def __init__(self):
        draw = np.random.default_rng(0)
        scores, predicted = draw.standard_normal(200), draw.integers(0, 2, 200)
        self.calibration = Calibration.fit(scores, predicted, 2, 0.05, class_conditional=False)
        self.chunks: list[int] = []

    def require_detector(self, purpose):
        return self

    def judge(self, texts, advance=None):
        self.chunks.append(len(texts))
        words = [text.split() for text in texts]
        scores = np.array([float(score) for score, _ in words])
        predicted = np.array([CLASSES.index(label) for _, label in words])
        return Judgement(None, predicted, None, scores, None, None)


@pytest.fixture
def model(monkeypatch):
    model = FakeModel()
    monkeypatch.setattr(module.Model, "open", lambda *arguments: model)
    return model


def write(path, scores, times=None, seed=0):
    labels = np.random.default_rng(seed).choice(CLASSES, len(scores))
    with path.open("w", encoding="utf-8") as file:
        for place, (score, label) in enumerate(zip(scores, labels, strict=True)):
            row = {"text": f"{score} {label}"}
            file.write(json.dumps(row if times is None else {**row, "when": times[place]}) + "\n")
    return str(path)


def quiet(count, seed=1):
    return np.random.default_rng(seed).standard_normal(count)


def changed(count, at, seed=1):
    scores = quiet(count, seed)
    scores[at:] += 4 * (np.random.default_rng(seed).random(count - at) < 0.3)
    return scores


def test_rows_come_in_chunks_and_in_order(model, tmp_path, monkeypatch):
    monkeypatch.setattr("masker.documents.texts.STREAM_CHUNK", 100)
    state = monitor("m", write(tmp_path / "d.jsonl", changed(450, 250)), DataSettings(), MonitorOptions())
    assert model.chunks == [100, 100, 100, 100, 50]
    assert state["observed"] == 450 and state["alarm"] and abs(state["since"] - 251) < 30
    assert (state["model"], state["since_time"]) == ("m", None)


def test_the_time_column_orders(model, tmp_path, caplog):
    scores = changed(450, 250)
    shuffled = np.random.default_rng(3).permutation(450)
    dates = [f"2024-05-{1 + place // 24:02d}T{place % 24:02d}:00:00" for place in shuffled]
    data = write(tmp_path / "d.jsonl", scores[shuffled], dates)
    with caplog.at_level(logging.INFO, logger="masker"):
        state = monitor("m", data, DataSettings(), MonitorOptions(time_column="when"))
    assert state["alarm"] and abs(state["since"] - 251) < 30
    assert state["since_time"].startswith("2024-05-1")
    assert "450 rows by column 'when', from 2024-05-01T00:00:00Z to 2024-05-19T17:00:00Z" in caplog.text
    assert "of them came after later ones" in caplog.text


def test_a_state_goes_on_where_the_last_run_ended(model, tmp_path):
    scores = changed(450, 250)
    whole = monitor("m", write(tmp_path / "all.jsonl", scores, seed=5), DataSettings(), MonitorOptions())
    lines = (tmp_path / "all.jsonl").read_text().splitlines(keepends=True)
    options = MonitorOptions(state=str(tmp_path / "state.json"))
    for name, part in (("one", lines[:123]), ("two", lines[123:])):
        (tmp_path / f"{name}.jsonl").write_text("".join(part))
        state = monitor("m", str(tmp_path / f"{name}.jsonl"), DataSettings(), options)
    assert state["sentence"] == whole["sentence"]
    assert state["observed"] == 450


def test_rows_that_the_last_run_has_seen_are_left_out(model, tmp_path, caplog):
    """A log that grows, monitored every day."""
    options = MonitorOptions(time_column="when", state=str(tmp_path / "state.json"))
    data = tmp_path / "log.jsonl"
    monitor("m", write(data, quiet(100), range(100)), DataSettings(), options)
    with caplog.at_level(logging.INFO, logger="masker"):
        state = monitor("m", write(data, quiet(150), range(150)), DataSettings(), options)
    assert state["observed"] == 150 and sum(model.chunks) == 150
    assert "left out 100 rows up to 99.0, which an earlier run has seen" in caplog.text
    assert monitor("m", str(data), DataSettings(), options)["observed"] == 150


def test_states_of_other_models_and_settings_are_refused(model, tmp_path):
    state = str(tmp_path / "state.json")
    data = write(tmp_path / "d.jsonl", quiet(30))
    monitor("m", data, DataSettings(), MonitorOptions(state=state))
    with pytest.raises(ConfigError, match="belongs to another model, calibration, score or --reference"):
        monitor("m", data, DataSettings(), MonitorOptions(state=state, reference="traffic"))
    with pytest.raises(ConfigError, match=r"was begun with --alarm-rate 0.01; got 0.1"):
        monitor("m", data, DataSettings(), MonitorOptions(state=state, promise={"alarm_rate": 0.1}))
    assert monitor("m", data, DataSettings(), MonitorOptions(state=state, promise={"alarm_rate": 0.01}))
    model.calibration = Calibration.fit(quiet(50), np.zeros(50, int), 2, 0.05, class_conditional=False)
    with pytest.raises(ConfigError, match="belongs to another model"):
        monitor("m", data, DataSettings(), MonitorOptions(state=state))
    for content in ("{", "{}", "[1]"):
        (tmp_path / "state.json").write_text(content)
        with pytest.raises(DataError, match=r"--state .*; name another file to start anew"):
            monitor("m", data, DataSettings(), MonitorOptions(state=state))


def test_a_failed_run_leaves_the_state_as_it_was(model, tmp_path):
    state = tmp_path / "state.json"
    monitor("m", write(tmp_path / "d.jsonl", quiet(30)), DataSettings(), MonitorOptions(state=str(state)))
    before = state.read_bytes()
    (tmp_path / "bad.jsonl").write_text('{"text": "1 a"}\n{oops\n')
    with pytest.raises(DataError):
        monitor("m", str(tmp_path / "bad.jsonl"), DataSettings(), MonitorOptions(state=str(state)))
    assert state.read_bytes() == before


def test_the_traffic_can_be_its_own_reference(model, tmp_path):
    options = MonitorOptions(reference="traffic", promise={"window": 100})
    shifted = changed(900, 600) + 5
    state = monitor("m", write(tmp_path / "d.jsonl", shifted), DataSettings(), options)
    assert state["whole"]["reference"] == 0 and state["settings"]["window"] == 100
    assert state["alarm"] and abs(state["since"] - 601) < 40


def test_times_that_are_none(model, tmp_path):
    data = write(tmp_path / "d.jsonl", quiet(3), ["2024-05-01", "soon", "2024-05-02"])
    options = MonitorOptions(time_column="when")
    with pytest.raises(DataError, match="got 'soon' at line 2"):
        monitor("m", data, DataSettings(), options)
    assert monitor("m", data, DataSettings(skip_invalid=True), options)["observed"] == 2
    with pytest.raises(DataError, match=r"has no column 'time'.*pass --time-column"):
        monitor("m", data, DataSettings(), MonitorOptions(time_column="time"))


def test_limit(model, tmp_path):
    data = write(tmp_path / "d.jsonl", quiet(50))
    assert monitor("m", data, DataSettings(limit=20), MonitorOptions())["observed"] == 20


def test_a_regression_has_no_score(model, tmp_path):
    model.is_regression = True
    with pytest.raises(ConfigError, match="monitor a classifier"):
        monitor("m", write(tmp_path / "d.jsonl", quiet(3)), DataSettings(), MonitorOptions())


def test_a_new_monitor_knows_the_calibration(model):
    state = open_monitor(model, MonitorOptions()).state()
    assert state["whole"]["reference"] == 200
    assert [group["label"] for group in state["classes"]] == CLASSES
