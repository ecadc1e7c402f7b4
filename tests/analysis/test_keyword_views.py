"""Keywords as they are shown."""

from __future__ import annotations

import pytest

from masker import Documents, Model
from masker.analysis.keyword_views import LISTED, attended_by, keyword_lists, rates_of_keywords
from tests.commands.test_report import FIXTURES

TEXTS = ["rocket moon orbit", "soup bread cheese", "goal player coach", "moon launch", "soup dinner", "goal league"]
LABELS = ["space", "food", "sport"] * 2
DOCUMENTS = Documents(TEXTS, None, LABELS, "t")


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    return {name: Model.open(FIXTURES / name, device="cpu") for name in ("masker-bert", "linear-roberta")}


def test_lists_of_both_schemes(models):
    model = models["masker-bert"]
    [used] = keyword_lists(model, None)
    assert used.scheme == model.keywords.source and used.trained_with and used.total == len(model.keywords)
    assert [entry["word"] for entry in used.words] == model.keywords.words[:LISTED]
    both = keyword_lists(model, DOCUMENTS)
    assert [shown.scheme for shown in both] == ["attention", "frequency"]
    assert sum(shown.trained_with for shown in both) == 1
    frequent = next(shown for shown in both if not shown.trained_with)
    assert all(entry["score"] > 0 for entry in frequent.words)


def test_a_model_without_attention_has_frequency_keywords_alone(models):
    assert [shown.scheme for shown in keyword_lists(models["linear-roberta"], DOCUMENTS)] == ["frequency"]


def test_rates_of_one_set_need_no_prefix(models):
    found = rates_of_keywords(models["masker-bert"], DOCUMENTS, {"test": DOCUMENTS})
    assert list(found.rates) == list(found.rates["food"]) == ["food", "space", "sport"]
    assert found.rates["food"]["food"] > found.rates["food"]["space"]
    assert "soup" in found.keywords["food"]


def test_of_very_many_classes_the_largest_have_rates(models, monkeypatch):
    monkeypatch.setattr("masker.analysis.keyword_views.READ_CLASSES", 2)
    more = Documents([*TEXTS, "goal score"], None, [*LABELS, "sport"], "t")
    found = rates_of_keywords(models["masker-bert"], more, {"test": more})
    assert list(found.rates) == list(found.rates["food"]) == ["food", "sport"], "food before space by name"


def test_no_rates_without_classes(models):
    unlabelled = Documents(TEXTS, None, None, "t")
    assert rates_of_keywords(models["masker-bert"], DOCUMENTS, {"test": unlabelled}) is None
    assert rates_of_keywords(models["masker-bert"], unlabelled, {"test": DOCUMENTS}) is None


def test_models_that_can_be_read_are_shown_side_by_side(models):
    found = attended_by({"one": models["masker-bert"], "two": models["linear-roberta"]}, DOCUMENTS, "test")
    assert [(shown.model, shown.documents) for shown in found] == [("one", "test")]
    assert found[0].words and {entry["word"] for entry in found[0].words} <= set(" ".join(TEXTS).split())
