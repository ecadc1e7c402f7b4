import sys

import pytest
from huggingface_hub import constants

from masker import hub

datasets = pytest.importorskip("datasets")


def test_the_probe_gives_up_on_a_dead_address(monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    assert hub.hub_online() is False
    assert hub.offline_reason() == "no answer from http://127.0.0.1:9"


def test_a_hub_that_is_switched_off_is_not_asked(monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.get_session", None)
    assert hub.hub_online() is False
    assert hub.offline_reason() == "HF_HUB_OFFLINE is set"


def test_a_hub_that_answers_needs_no_reason(monkeypatch):
    monkeypatch.setattr(hub, "hub_online", lambda: True)
    assert hub.offline_reason() is None


@pytest.mark.parametrize("online", [True, False])
def test_both_libraries_use_their_caches_only_while_the_hub_is_away(monkeypatch, online):
    homes = (constants, sys.modules["datasets.config"])
    for home in homes:
        monkeypatch.setattr(home, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hub, "hub_online", lambda: online)
    with hub.cache_only_when_offline() as reachable:
        assert reachable is online
        assert [home.HF_HUB_OFFLINE for home in homes] == [not online] * 2
    assert [home.HF_HUB_OFFLINE for home in homes] == [False] * 2


def test_records_have_class_names_and_no_withheld_labels():
    features = datasets.Features(
        {
            "text": datasets.Value("string"),
            "label": datasets.ClassLabel(names=["neg", "pos"]),
            "n": datasets.Value("int8"),
        }
    )
    rows = {"text": ["a", "b", "c"], "label": [1, -1, None], "n": [1, 2, 3]}
    table = datasets.Dataset.from_dict(rows, features=features)
    assert list(hub.table_records(table, ["text", "label"])) == [
        (1, {"text": "a", "label": "pos"}),
        (2, {"text": "b", "label": None}),
        (3, {"text": "c", "label": None}),
    ]


@pytest.mark.parametrize("shown", [True, False])
def test_progress_bars_are_put_back(shown):
    was_disabled = datasets.are_progress_bars_disabled()
    try:
        datasets.enable_progress_bars() if shown else datasets.disable_progress_bars()
        with hub.no_progress_bars():
            assert datasets.are_progress_bars_disabled()
        assert datasets.are_progress_bars_disabled() is not shown
    finally:
        datasets.disable_progress_bars() if was_disabled else datasets.enable_progress_bars()


def test_errors_on_one_line():
    assert hub.one_line(ValueError("two\n  lines")) == "two lines"
    assert hub.one_line(ValueError()) == "ValueError"
    assert hub.one_line(ValueError("x" * 300)) == "x" * 197 + "..."
