"""Backbones by name, folder and hub id."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from masker.config import ModelSettings
from masker.errors import ModelError
from masker.modeling.backbone import encoder_length, load_backbone
from tests.conftest import FAMILIES


def test_the_embedded_backbone_opens_by_name():
    backbone = load_backbone(ModelSettings(backbone="minilm"), ["a", "b", "c"])
    config = backbone.classifier.config
    assert config.num_hidden_layers == 6
    assert sum(parameter.numel() for parameter in backbone.classifier.base_model.parameters()) == 22_713_216
    assert config.id2label == {0: "a", 1: "b", 2: "c"}
    assert backbone.max_length == 256


@pytest.mark.parametrize(
    ("head", "problem_type", "outputs"),
    [
        ("one-vs-rest", "multi_label_classification", 2),
        ("multi-class", "single_label_classification", 2),
        ("regression", "regression", 1),
    ],
)
def test_heads_are_transformers_own_problem_types(tiny_backbones, head, problem_type, outputs):
    settings = ModelSettings(backbone=tiny_backbones["bert"], head=head)
    classes = [] if head == "regression" else ["a", "b"]
    config = load_backbone(settings, classes).classifier.config
    assert config.problem_type == problem_type
    assert config.num_labels == outputs


@pytest.mark.parametrize("family", FAMILIES)
def test_a_new_one_vs_rest_head_starts_at_the_prior(tiny_backbones, family):
    """With C = 5 classes each sigmoid starts near 1/5, whatever the text."""
    backbone = load_backbone(ModelSettings(backbone=tiny_backbones[family], head="one-vs-rest"), list("abcde"))
    ids = torch.randint(6, 60, (4, 8))
    logits = backbone.classifier.eval()(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
    torch.testing.assert_close(logits.sigmoid(), torch.full((4, 5), 0.2), atol=0.05, rtol=0)


def test_unknown_names_say_what_to_do():
    with pytest.raises(ModelError) as error:
        load_backbone(ModelSettings(backbone="nobody/no-such-model"), ["a", "b"])
    message = str(error.value)
    assert "nobody/no-such-model" in message
    assert "--backbone minilm" in message
    assert "\n" not in message


def test_a_folder_in_the_layout_of_the_hub_cache_is_loaded_by_id(tiny_backbones, tmp_path, monkeypatch):
    """The real hub path: transformers finds owner/name in its cache."""
    snapshot = tmp_path / "models--owner--tiny" / "snapshots" / ("0" * 40)
    shutil.copytree(tiny_backbones["bert"], snapshot)
    refs = tmp_path / "models--owner--tiny" / "refs"
    refs.mkdir()
    (refs / "main").write_text("0" * 40)
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    backbone = load_backbone(ModelSettings(backbone="owner/tiny"), ["a", "b"])
    assert backbone.classifier.config.hidden_size == 32


def test_pickled_weights_are_not_opened(tiny_backbones, tmp_path):
    folder = tmp_path / "old"
    shutil.copytree(tiny_backbones["bert"], folder)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="safetensors"):
        load_backbone(ModelSettings(backbone=str(folder)), ["a", "b"])


def test_models_that_cannot_be_masked_are_refused(tiny_backbones, tmp_path):
    folder = tmp_path / "maskless"
    shutil.copytree(tiny_backbones["bert"], folder)
    import json

    path = folder / "tokenizer_config.json"
    content = json.loads(path.read_text())
    content.pop("mask_token")
    path.write_text(json.dumps(content))
    (folder / "special_tokens_map.json").unlink(missing_ok=True)
    with pytest.raises(ModelError, match="mask"):
        load_backbone(ModelSettings(backbone=str(folder)), ["a", "b"])


def test_encoder_length_is_the_smallest_limit():
    tokenizer = SimpleNamespace(model_max_length=100)
    table = SimpleNamespace(padding_idx=None)
    model = SimpleNamespace(
        config=SimpleNamespace(max_position_embeddings=80),
        base_model=SimpleNamespace(embeddings=SimpleNamespace(position_embeddings=table)),
    )
    assert encoder_length(60, tokenizer, model) == 60
    assert encoder_length(500, tokenizer, model) == 80
    table.padding_idx = 1  # RoBERTa: rows 0 and 1 are never used
    assert encoder_length(500, tokenizer, model) == 78
    tokenizer.model_max_length = 70
    assert encoder_length(500, tokenizer, model) == 70


def test_an_encoder_whose_weights_do_not_fit_its_configuration_is_refused(tiny_backbones, tmp_path):
    """transformers would take random weights for those that do not fit."""
    folder = Path(shutil.copytree(tiny_backbones["bert"], tmp_path / "damaged"))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "vocab_size": config["vocab_size"] + 1}))
    with pytest.raises(ModelError, match=r"is damaged: 1 weights, bert\.embeddings\.word_embeddings\.weight am"):
        load_backbone(ModelSettings(backbone=str(folder)), ["a", "b"])


def test_the_head_of_a_trained_classifier_may_have_other_classes(tiny_backbones, tmp_path):
    first = load_backbone(ModelSettings(backbone=str(tiny_backbones["bert"])), ["a", "b"])
    first.classifier.save_pretrained(tmp_path / "two")
    first.tokenizer.save_pretrained(tmp_path / "two")
    again = load_backbone(ModelSettings(backbone=str(tmp_path / "two")), ["a", "b", "c"])
    assert again.classifier.config.num_labels == 3
