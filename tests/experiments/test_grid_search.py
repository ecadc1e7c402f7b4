"""The search for learning rate and batch size: which pairs, which wins, and what the trainings behind it do with it."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from masker import ConfigError, Documents
from masker.config import build_settings
from masker.experiments import grid_search as module
from masker.experiments.grid_search import grid_pairs, is_searched, search_grid, with_pair
from masker.experiments.plan import RunOptions, plan_recipe
from masker.experiments.recipe import load_recipe
from masker.experiments.reproduce import reproduce
from masker.inference.outputs import Outputs
from tests.conftest import make_corpus

GRID = RunOptions(seeds=[0, 1], grid=True)
CLASSES = ["food", "space", "sport"]


def stages_of(plan, kind):
    return [stage for stage in plan.graph.stages.values() if stage.kind == kind]


def test_the_papers_six_pairs_the_presets_first():
    settings = build_settings(preset="ood")
    pairs = grid_pairs(settings)
    assert len(pairs) == 6 and pairs[0] == {"learning_rate": 5e-5, "batch_size": 16}
    assert {(pair["learning_rate"], pair["batch_size"]) for pair in pairs} == {
        (rate, size) for rate in (1e-5, 2e-5, 5e-5) for size in (16, 32)
    }
    random = build_settings({"keywords": {"source": "random"}}, preset="ood")
    assert [pair["batch_size"] for pair in grid_pairs(random)] == [4, 4, 4], "what the paper fixes stays"


def test_only_fine_tuned_encoders_are_searched():
    for method, searched in {"masker": True, "vanilla": True, "residual": True, "doc": False, "ocsvm": False}.items():
        assert is_searched(build_settings({"training": {"method": method}})) == searched


class FakeModel:
    """Right for as many of the compared documents as its settings say, with a loss that falls with its margin."""

    is_regression, classes = False, CLASSES

    def __init__(self, settings, right, margin):
        self.settings, self.right, self.margin = settings, right, margin

    def outputs(self, texts):
        known = dict(zip(*make_corpus(60), strict=True))
        logits = np.zeros((len(texts), 3), dtype=np.float32)
        for row, text in enumerate(texts):
            true = CLASSES.index(known[text])
            logits[row, true if row < self.right else (true + 1) % 3] = self.margin
        return Outputs(logits)


@pytest.fixture
def fake_fit(monkeypatch):
    """Trainings that are named by their rate and size, and remembered."""
    seen = []

    def use(figures):
        def fit(documents, settings, work, device):
            work.mkdir(parents=True)
            pair = settings.training.learning_rate, settings.training.batch_size
            seen.append((pair, len(documents)))
            return FakeModel(settings, *figures[pair])

        monkeypatch.setattr(module, "Model", SimpleNamespace(fit=fit))
        return seen

    return use


def test_the_most_right_answers_win_then_the_lower_loss(fake_fit, tmp_path):
    """6 of 60 documents are left out: 4 right twice, once with a higher margin, so a lower loss where it is right."""
    texts, labels = make_corpus(60)
    settings = build_settings({"model": {"head": "multi-class"}}, preset="ood")
    figures = {(5e-5, 16): (3, 1.0), (2e-5, 16): (4, 0.5), (1e-5, 16): (4, 1.0)}
    seen = fake_fit(figures)
    pairs = [{"learning_rate": rate, "batch_size": size} for rate, size in figures]
    found = search_grid(Documents(texts, None, labels, "made up"), settings, pairs, tmp_path, "cpu")
    assert found["chosen"] == {"learning_rate": 1e-5, "batch_size": 16} and found["compared_on"] == 6
    assert [one["figure"] for one in found["tried"]] == [3, 4, 4]
    assert [documents for _, documents in seen] == [54, 54, 54]
    assert with_pair(settings, found["chosen"]).training.learning_rate == 1e-5


def test_a_search_goes_on_where_it_was_interrupted(fake_fit, tmp_path):
    texts, labels = make_corpus(60)
    documents, settings = Documents(texts, None, labels, "made up"), build_settings(preset="ood")
    pairs = [{"learning_rate": rate, "batch_size": 16} for rate in (5e-5, 2e-5)]
    seen = fake_fit({(5e-5, 16): (6, 1.0)})
    with pytest.raises(KeyError):
        search_grid(documents, settings, pairs, tmp_path, "cpu")
    (tmp_path / "training").rmdir()
    fake_fit({(2e-5, 16): (1, 1.0)})
    assert search_grid(documents, settings, pairs, tmp_path, "cpu")["chosen"]["learning_rate"] == 5e-5
    assert [pair for pair, _ in seen] == [(5e-5, 16), (2e-5, 16), (2e-5, 16)], "the first is not trained again"


def test_one_search_for_each_system_whatever_the_seed(corpora, tiny_recipe):
    plan = plan_recipe(load_recipe(tiny_recipe(scale={"class_ratio": 0.5}, split_by_seed=True)), "small", GRID)
    searches = {stage.id: stage for stage in stages_of(plan, "grid")}
    methods = [stage.inputs["settings"]["training"]["method"] for stage in searches.values()]
    assert sorted(methods) == ["masker", "masker", "vanilla"], "MASKER, its MKR alone, and the vanilla row"
    trainings = stages_of(plan, "train")
    assert len({stage.inputs["settings"]["training"]["seed"] for stage in trainings}) == 2
    for stage in trainings:
        assert stage.inputs["grid"] and stage.depends_on[-1] in searches
        assert not {"learning_rate", "batch_size"} & set(stage.inputs["settings"]["training"])
    plain = plan_recipe(load_recipe(tiny_recipe()), "small", RunOptions(seeds=[0]))
    assert not stages_of(plain, "grid") and all("grid" not in stage.inputs for stage in stages_of(plain, "train"))


def test_what_is_searched_cannot_be_set(corpora, tiny_recipe):
    recipe = load_recipe(tiny_recipe())
    override = "training.learning_rate=1e-4"
    with pytest.raises(ConfigError, match=f"--set {override}: --grid chooses it"):
        plan_recipe(recipe, "small", RunOptions(overrides=[override], grid=True))


def test_a_recipe_trains_with_what_the_search_has_chosen(corpora, tiny_recipe, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LEARNING_RATES", (1e-7, 2e-3))
    monkeypatch.setattr(module, "BATCH_SIZES", (8,))
    # What a handful of documents says of two tiny networks is luck: here the one that learns wins.
    figures = lambda model, _: {"figure": model.settings.training.learning_rate, "loss": 1.0}  # noqa: E731
    monkeypatch.setattr(module, "_figures", figures)
    options = RunOptions(seeds=[0], only=["system=vanilla"], grid=True)
    (outcome,) = reproduce([tiny_recipe()], tmp_path / "out", options)
    (result,) = outcome.results.values()
    assert result["trained"]["chosen"] == {"learning_rate": 2e-3, "batch_size": 8}
    search, training, _ = result["stages"]
    assert (search["kind"], training["kind"]) == ("grid", "train")
    record = json.loads((tmp_path / "out" / "stages" / search["id"] / "result.json").read_text())
    assert [one["learning_rate"] for one in record["result"]["tried"]] == [2e-3, 1e-7]
