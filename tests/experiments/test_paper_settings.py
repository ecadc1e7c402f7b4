"""Recipes do what the paper does, and stages name only what differs from it."""

from __future__ import annotations

import pytest

from masker.config import Settings, build_settings
from masker.experiments.paper_settings import paper_settings, with_paper_settings, without_paper_settings
from masker.experiments.recipe import load_recipe, recipe_names
from masker.experiments.run_settings import RunCoordinates, run_settings, vanilla_settings
from masker.registry import METHODS
from masker.report.page import ELSEWHERE

#: Recipes that search for something better than the paper's setting.
SEARCHES = ("regularizer",)


@pytest.mark.parametrize("name", [name for name in recipe_names() if name not in (*ELSEWHERE, *SEARCHES)])
def test_every_run_of_every_recipe_has_the_papers_score(name):
    recipe = load_recipe(name)
    for scale in map(recipe.scale, recipe.scales):
        for source in recipe.sources:
            for system in recipe.systems:
                for column, encoder in scale.backbones.items():
                    settings = run_settings(recipe, scale, RunCoordinates(source, system, column, encoder, 0))
                    own = METHODS.get(settings.training.method).own_score
                    assert settings.detection.score == ("max-prob" if own is None else "auto")
                    assert settings.data.calibration_share == 0.0 and not settings.detection.calibrate_confidence
                    assert settings.training.averaged_share == settings.data.validation_fraction == 0.0
                    training = settings.training
                    assert training.head_lr_scale == (20.0 if settings.is_convolutional else 1.0)
                    assert (training.lr_schedule, training.warmup_fraction) == ("constant", 0.0)
                    assert (training.max_grad_norm, training.embedding_layers) == (0.0, "encoder")
                    if settings.training.method == "masker":
                        vanilla = vanilla_settings(settings, 1)
                        assert vanilla.detection.score == "max-prob" and vanilla.data.calibration_share == 0.0


@pytest.mark.parametrize("method", ["masker", "openmax", "doc"])
def test_the_papers_settings_are_left_out_and_restored(method):
    settings = build_settings(paper_settings(method), {"training": {"method": method}}).model_dump(mode="json")
    short = without_paper_settings(settings)
    assert set(short["detection"]) == {"false_alarm_rate", "rule"} and "calibration_share" not in short["data"]
    assert Settings.model_validate(with_paper_settings(short)).model_dump(mode="json") == settings


def settings_of(recipe_name, system, column):
    recipe = load_recipe(recipe_name)
    scale = recipe.scale("paper")
    return run_settings(recipe, scale, RunCoordinates("Amazon", system, column, scale.backbones[column], 0))


def test_random_words_have_the_papers_form():
    mkr, mer = (settings_of("ood-ablation", system, "BERT") for system in ("random-mkr", "random-mer"))
    assert (mkr.training.batch_size, mkr.keywords.random_share) == (4, 0.15)
    assert (mer.training.batch_size, mer.keywords.random_share) == (16, 0.15), "it reconstructs nothing"


@pytest.mark.parametrize(("column", "vanilla", "masker"), [("BERT", 3, 6), ("RoBERTa", 10, 12)])
def test_epochs_and_the_residual_ensemble_have_the_papers_form(column, vanilla, masker):
    residual, ours = (settings_of("ood-main", system, column) for system in ("residual", "masker"))
    assert (residual.epochs, ours.epochs, ours.vanilla_stage_epochs) == (vanilla, masker, vanilla)
    assert residual.model.head == "multi-class" and residual.baselines.residual_documents == "with-keywords"


def test_what_differs_is_named():
    settings = build_settings(paper_settings("masker"), {"detection": {"score": "auto", "bank": 7}})
    short = without_paper_settings(settings.model_dump(mode="json"))
    assert short["detection"]["score"] == "auto" and short["detection"]["bank"] == 7
    assert Settings.model_validate(with_paper_settings(short)) == settings
