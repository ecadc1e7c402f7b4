"""The bar of a stage follows the Trainer's state."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from masker.training import progress_callback as module
from masker.training.progress_callback import ProgressCallback


class FakeBar:
    def __init__(self, total, title, unit):
        self.total, self.title, self.unit, self.n, self.shown, self.closed = total, title, unit, 0, {}, False

    def update(self, count):
        self.n += count

    def set_postfix(self, values, refresh):
        self.shown = dict(values)

    def close(self):
        self.closed = True


@pytest.fixture
def bars(monkeypatch):
    made: list[FakeBar] = []

    def make(*args):
        made.append(FakeBar(*args))
        return made[-1]

    monkeypatch.setattr(module, "progress_bar", make)
    return made


def state(step=0, first=True):
    return SimpleNamespace(is_world_process_zero=first, max_steps=40, global_step=step)


def test_a_stage_from_its_first_step(bars):
    callback = ProgressCallback("vanilla")
    callback.on_train_begin(None, state(), None)
    (bar,) = bars
    assert (bar.total, bar.title, bar.unit, bar.n) == (40, "vanilla", "step", 0)
    callback.on_step_end(None, state(1), None)
    callback.on_step_end(None, state(4), None)
    assert bar.n == 4, "where the Trainer is, however many steps it reports at once"
    callback.on_train_end(None, state(40), None)
    assert bar.closed


def test_a_resumed_stage_starts_where_it_was(bars):
    callback = ProgressCallback("masker")
    callback.on_train_begin(None, state(16), None)
    assert bars[0].n == 16


def test_it_shows_the_latest_of_each_figure(bars):
    callback = ProgressCallback("masker")
    callback.on_train_begin(None, state(), None)
    callback.on_log(None, state(1), None, logs={"loss": 1.23456, "L_CE": 1.0, "learning_rate": 5e-5})
    callback.on_log(None, state(2), None, logs={"eval_accuracy": 0.9, "eval_runtime": 3.0})
    callback.on_log(None, state(3), None, logs={"loss": 0.5})
    assert bars[0].shown == {"loss": "0.5", "L_CE": "1", "accuracy": "0.9"}


def test_other_processes_are_silent(bars):
    callback = ProgressCallback("masker")
    callback.on_train_begin(None, state(first=False), None)
    callback.on_step_end(None, state(1, first=False), None)
    callback.on_log(None, state(1, first=False), None, logs={"loss": 1.0})
    callback.on_train_end(None, state(40, first=False), None)
    assert bars == []
