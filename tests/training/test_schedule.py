"""How long to train: the table of the module by hand."""

import pytest

from masker.config import build_settings
from masker.training.schedule import Schedule, final_schedule, frozen_layers, keyword_schedule

DEFAULT = build_settings()


@pytest.mark.parametrize(
    ("documents", "steps"),
    [
        (8, 32),  # batches of 8
        (100, 32),
        (341, 32),  # 3 · 341 / 32 = 31.97
        (342, 33),
        (2000, 188),  # 3 · 2,000 / 32 = 187.5
        (2001, 188),  # from here on 6,000 in all
        (6000, 188),
        (6001, 188),  # each once
        (64_000, 2000),
    ],
)
def test_steps_follow_the_documents(documents, steps):
    assert final_schedule(DEFAULT, documents) == Schedule(steps=steps)


def test_a_batch_is_no_larger_than_the_data():
    """3 · 400 documents in batches of 400: the least number of steps; in batches of 4: 300."""
    assert final_schedule(build_settings({"training": {"batch_size": 512}}), 400) == Schedule(steps=32)
    assert final_schedule(build_settings({"training": {"batch_size": 4}}), 400) == Schedule(steps=300)


def test_epochs_override_and_a_new_head_trains_by_epochs():
    named = build_settings({"training": {"epochs": 7}})
    assert final_schedule(named, 10_000) == Schedule(epochs=7)
    assert keyword_schedule(named, 10_000) == Schedule(steps=16)
    assert final_schedule(build_settings(preset="ood"), 10_000) == Schedule(epochs=6)
    assert keyword_schedule(build_settings(preset="ood"), 10_000) == Schedule(epochs=3)


@pytest.mark.parametrize("documents", [8, 300, 100_000])
def test_the_keyword_stage_is_short(documents):
    assert keyword_schedule(DEFAULT, documents) == Schedule(steps=16)


@pytest.mark.parametrize(("documents", "layers", "frozen"), [(999, 6, 2), (999, 12, 4), (999, 2, 0), (1000, 12, 0)])
def test_few_documents_leave_the_lowest_third_alone(documents, layers, frozen):
    assert frozen_layers(DEFAULT, documents, layers) == frozen


def test_frozen_layers_as_set():
    three = build_settings({"training": {"frozen_layers": 3}})
    assert [frozen_layers(three, documents, 6) for documents in (10, 10_000)] == [3, 3]
    assert frozen_layers(three, 10, 2) == 2
    assert frozen_layers(build_settings({"training": {"head_start": "new"}}), 10, 6) == 0


@pytest.mark.parametrize(("documents", "steps"), [(16, 32), (199, 32), (200, 24), (768, 24), (769, 25), (1600, 50)])
def test_networks_that_are_averaged_train_briefly(documents, steps):
    assert final_schedule(DEFAULT, documents, cross_fitted=True) == Schedule(steps=steps)
