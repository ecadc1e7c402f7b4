"""What a training decides and promises, in words, before it starts."""

from __future__ import annotations

import pytest

from masker import Documents
from masker.detection.promises import all_decisions, plan_training
from masker.training import run as run_module
from tests.detection.conftest import CLASSES, LABELS, SCORE, TEXTS


def rejection(start, *arguments, **sections):
    return all_decisions(start(*arguments, **sections))["rejection"]


def test_the_promise_is_known_before_training(start):
    """30 documents, k = ceil(31 · 0.95) = 30: the rate is Beta(1, 30), its 5 and 95 % points 1 - 0.95^(1/30) = 0.17 %
    and 1 - 0.05^(1/30) = 9.5 %. With 95 % confidence 30 documents promise 1 - 0.05^(1/30), too."""
    assert rejection(start) == (
        "score max-prob; of known texts, at most 5 % on average; for one model 0.2 to 9.5 %, 90 % sure "
        "(30 documents calibrate)"
    )
    sure = {"detection": {**SCORE, "confidence": 0.95}}
    assert rejection(start, **sure) == (
        "score max-prob; of known texts, at most 9.5 % with 95 % confidence (30 documents calibrate)"
    )


def test_the_only_document_of_a_class_calibrates_nothing(start):
    assert "(30 documents calibrate)" in rejection(start, [*TEXTS, "coach"], [*LABELS, "one"], [*CLASSES, "one"])


def test_a_split_calibrates_on_what_it_sets_aside(start):
    split = {"detection": {**SCORE, "calibration": "split"}, "data": {"validation_fraction": 0.4}}
    assert "(12 documents calibrate)" in rejection(start, **split)


def test_a_plan_is_what_is_decided_and_trains_nothing(start, monkeypatch):
    monkeypatch.setattr(run_module, "train_stage", lambda *arguments: pytest.fail("trained"))
    run = start()
    assert plan_training(Documents(TEXTS, None, LABELS, "made up"), CLASSES, run.settings) == all_decisions(run)


def test_a_published_rule_promises_nothing(start):
    published = {"detection": {"rule": "published"}, "baselines": {"doc_filters": 4}}
    assert rejection(start, method="doc", **published) == "score doc; the published rule, which promises no rate"
