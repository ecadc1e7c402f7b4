"""Presets: the paper's training, and what of it depends on method, encoder and keywords."""

from __future__ import annotations

import pytest

from masker.config import build_settings
from masker.presets import BATCH_SIZES, LEARNING_RATES, PRESETS, is_roberta, preset_layer


def preset(**sections):
    return build_settings(sections, preset="ood")


def test_one_constant_rate_plain_adam_and_all_documents():
    training = preset().training
    assert (training.head_lr_scale, training.lr_schedule) == (1.0, "constant")
    assert (training.weight_decay, training.warmup_fraction, training.max_grad_norm) == (0.0, 0.0, 0.0)
    assert preset().data.validation_fraction == 0.0
    assert training.learning_rate in LEARNING_RATES == (1e-5, 2e-5, 5e-5)
    assert training.batch_size in BATCH_SIZES == (16, 32)


def test_the_rate_is_halved_for_what_the_paper_calls_the_embedding_network():
    training = preset().training
    assert (training.embedding_lr_scale, training.embedding_layers) == (0.5, "encoder")
    assert preset(training={"embedding_layers": "words"}).training.embedding_layers == "words"


def test_the_papers_score_unless_a_method_has_its_own():
    assert preset().detection.score == "max-prob"
    assert preset(training={"method": "doc"}).detection.score == "auto", "its own"
    assert preset(detection={"score": "energy"}).detection.score == "energy"


def test_a_residual_ensemble_is_multi_class_and_its_bias_is_of_documents_with_keywords():
    settings = preset(training={"method": "residual"})
    assert settings.model.head == "multi-class" and settings.baselines.residual_documents == "with-keywords"
    assert preset().model.head == "one-vs-rest"
    by_default = build_settings({"training": {"method": "residual"}})
    assert (by_default.model.head, by_default.baselines.residual_documents) == ("one-vs-rest", "all")


@pytest.mark.parametrize(("method", "epochs"), [("masker", 12), ("vanilla", 10), ("residual", 10)])
def test_roberta_trains_longer_and_its_keyword_model_for_ten_epochs(method, epochs):
    settings = preset(training={"method": method}, model={"backbone": "roberta-base"})
    assert (settings.epochs, settings.vanilla_stage_epochs) == (epochs, 10)
    bert = preset(training={"method": method}, model={"backbone": "bert-base-uncased"})
    assert (bert.epochs, bert.vanilla_stage_epochs) == (6 if method == "masker" else 3, 3)


def test_epochs_of_the_user_are_not_roberta_s():
    settings = preset(training={"epochs": 4}, model={"backbone": "roberta-base"})
    assert (settings.epochs, settings.vanilla_stage_epochs) == (4, 2)


def test_families_by_folder_and_name(tiny_backbones, tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text('{"model_type": "roberta"}')
    monkeypatch.chdir(tmp_path)
    assert (
        is_roberta(tiny_backbones["roberta"]) and is_roberta("distilroberta-base") and is_roberta("FacebookAI/RoBERTa")
    )
    assert is_roberta("granite-30m") and is_roberta("ibm-granite/granite-embedding-30m-english")
    assert not is_roberta("ibm-granite/granite-embedding-english-r2"), "a ModernBERT"
    assert not is_roberta(tiny_backbones["bert"]) and not is_roberta("minilm")
    assert not is_roberta(""), "not the folder one happens to be in"


def test_random_words_are_drawn_as_in_the_authors_code():
    settings = preset(keywords={"source": "random"})
    assert (settings.keywords.random_share, settings.training.batch_size) == (0.15, 4)
    assert preset(keywords={"source": "random"}, loss={"lambda_mkr": 0.0}).training.batch_size == 16, (
        "no reconstruction"
    )
    assert preset().keywords.random_share is None and preset().training.batch_size == 16
    assert build_settings({"keywords": {"source": "random"}}).keywords.random_share is None


def test_a_convolution_learns_from_scratch():
    convolution = {"training": {"method": "openmax"}, "baselines": {"openmax_network": "convolution"}}
    for settings in (preset(training={"method": "doc"}), preset(**convolution)):
        assert settings.training.learning_rate * settings.training.head_lr_scale == pytest.approx(1e-3)
        assert settings.epochs == 10
    assert preset(training={"method": "openmax"}).training.head_lr_scale == 1.0


def test_layers_are_copies():
    preset_layer("ood", {"training": {"method": "residual"}})["training"]["batch_size"] = 7
    assert PRESETS["ood"]["training"]["batch_size"] == 16 and "head" not in PRESETS["ood"]["model"]
