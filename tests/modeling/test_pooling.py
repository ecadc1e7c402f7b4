"""The mean of the tokens, carried to the first one by an ordinary encoder layer."""

from __future__ import annotations

import json

import pytest
import torch

from masker.config import ModelSettings
from masker.errors import ModelError
from masker.modeling.backbone import load_backbone, load_classifier
from masker.modeling.heads import without_output_layer
from masker.modeling.pooling import (
    DOCUMENT_TOKEN,
    MEAN,
    can_pool_mean,
    declared_pooling,
    encoder_layers,
    pass_document_token_through,
    pooling_of,
    pooling_parameters,
    seen_tokens,
)
from tests.conftest import FAMILIES

TEXTS = ["the rocket left orbit", "soup", "some bread with cheese and garlic was found near the old kitchen"]
POOLED = [family for family in FAMILIES if family not in ("albert", "mpnet")]


def open_backbone(folder, pooling):
    settings = ModelSettings(backbone=str(folder), head="multi-class", pooling=pooling)
    backbone = load_backbone(settings, ["a", "b", "c"])
    return backbone.classifier.eval(), backbone.tokenizer


def inputs_of(tokenizer):
    return tokenizer(TEXTS, padding=True, return_tensors="pt")


@pytest.mark.parametrize("family", POOLED)
@torch.inference_mode()
def test_the_first_token_holds_the_normalized_mean_of_all_tokens(tiny_backbones, family):
    """h' = LN(h_1 + 1000 · mean), and dividing by 1000 leaves a normalized vector as it is."""
    plain, tokenizer = open_backbone(tiny_backbones[family], DOCUMENT_TOKEN)
    pooled, _ = open_backbone(tiny_backbones[family], MEAN)
    inputs = inputs_of(tokenizer)
    states, seen = plain.base_model(**inputs).last_hidden_state, inputs["attention_mask"].unsqueeze(2)
    mean = (states * seen).sum(dim=1) / seen.sum(dim=1)
    expected = torch.nn.functional.layer_norm(mean + states[:, 0] / 1000, mean.shape[1:])
    found = pooled(**inputs, output_hidden_states=True).hidden_states[-1]
    assert found.shape[1] == 1
    torch.testing.assert_close(found[:, 0], expected, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("family", POOLED)
@torch.inference_mode()
def test_plain_transformers_gives_the_same_logits(tiny_backbones, family, tmp_path):
    """Saved and opened without this package, the layer computes by attention what we compute directly."""
    from transformers import AutoModelForSequenceClassification

    ours, tokenizer = open_backbone(tiny_backbones[family], MEAN)
    torch.nn.init.normal_(pooling_head(ours).weight, std=3.0)  # so that differences would show
    ours.save_pretrained(tmp_path)
    inputs = inputs_of(tokenizer)
    expected = ours(**inputs).logits
    for attention in ("sdpa", "eager"):
        theirs = AutoModelForSequenceClassification.from_pretrained(tmp_path, attn_implementation=attention).eval()
        torch.testing.assert_close(theirs(**inputs).logits, expected, atol=1e-4, rtol=1e-4)
    again = load_classifier(str(tmp_path)).eval()
    assert again(**inputs, output_hidden_states=True).hidden_states[-1].shape[1] == 1
    torch.testing.assert_close(again(**inputs).logits, expected)


def pooling_head(classifier):
    from masker.modeling.heads import output_layer

    return classifier.get_submodule(output_layer(classifier))


@pytest.mark.parametrize("family", POOLED)
def test_a_single_text_without_padding_gives_what_it_gives_in_a_batch(tiny_backbones, family):
    classifier, tokenizer = open_backbone(tiny_backbones[family], MEAN)
    with torch.inference_mode():
        batch = classifier(**inputs_of(tokenizer)).logits
        alone = classifier(**tokenizer(TEXTS[1], return_tensors="pt")).logits
    torch.testing.assert_close(alone[0], batch[1], atol=1e-5, rtol=1e-5)


def test_the_layer_is_marked_counted_and_added_once(tiny_backbones):
    classifier, _ = open_backbone(tiny_backbones["bert"], MEAN)
    layers = classifier.config.num_hidden_layers
    assert pooling_of(classifier.config) == MEAN
    assert encoder_layers(classifier.config) == layers - 1 == len(classifier.base_model.encoder.layer) - 1
    fixed = {id(parameter) for parameter in pooling_parameters(classifier)}
    assert {id(parameter) for parameter in classifier.base_model.encoder.layer[-1].parameters()} < fixed
    assert pooling_parameters(open_backbone(tiny_backbones["bert"], DOCUMENT_TOKEN)[0]) == []


def test_a_pooled_model_as_a_backbone_keeps_its_one_pooling_layer(tiny_backbones, tmp_path):
    classifier, tokenizer = open_backbone(tiny_backbones["bert"], MEAN)
    classifier.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    again, _ = open_backbone(tmp_path, MEAN)
    assert again.config.num_hidden_layers == classifier.config.num_hidden_layers


@pytest.mark.parametrize("family", ["albert", "mpnet"])
def test_layers_that_cannot_carry_the_mean_are_read_by_the_document_token(tiny_backbones, family):
    """ALBERT's share their weights; MPNet's attend by position too, so attention is never uniform."""
    with pytest.raises(ModelError, match=r"cannot be read by its mean; use --set model\.pooling=document-token"):
        open_backbone(tiny_backbones[family], MEAN)
    classifier, _ = open_backbone(tiny_backbones[family], "auto")
    assert not can_pool_mean(classifier.config)


@pytest.mark.parametrize("family", ["roberta", "mpnet"])
@torch.inference_mode()
def test_a_probe_reads_the_document_token_not_a_random_layer(tiny_backbones, family):
    """tanh(h_1 / sqrt(H)) of the first token's state."""
    classifier, tokenizer = open_backbone(tiny_backbones[family], DOCUMENT_TOKEN)
    state = classifier.base_model(**inputs_of(tokenizer)).last_hidden_state[:, 0]
    pass_document_token_through(classifier)
    with without_output_layer(classifier):
        read = classifier(**inputs_of(tokenizer)).logits
    torch.testing.assert_close(read, torch.tanh(state / state.shape[1] ** 0.5))


@torch.inference_mode()
def test_a_layer_that_was_trained_stays(tiny_backbones):
    classifier, _ = open_backbone(tiny_backbones["roberta"], DOCUMENT_TOKEN)
    dense = classifier.classifier.dense
    dense.bias[0] = 0.1
    before = dense.weight.clone()
    pass_document_token_through(classifier)
    assert torch.equal(dense.weight, before)
    bert, _ = open_backbone(tiny_backbones["bert"], DOCUMENT_TOKEN)
    pooler = bert.bert.pooler.dense.weight.clone()
    pass_document_token_through(bert)
    assert torch.equal(bert.bert.pooler.dense.weight, pooler), "BERT's is pre-trained"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, MEAN),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, DOCUMENT_TOKEN),
        ({"pooling_mode": "mean"}, MEAN),
        ({"pooling_mode_max_tokens": True}, None),
    ],
)
def test_a_sentence_encoder_says_what_it_was_trained_for(tmp_path, content, expected):
    assert declared_pooling(str(tmp_path)) is None
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(content))
    assert declared_pooling(str(tmp_path)) == expected


@pytest.mark.parametrize("content", ["{", "[]", '"mean"'])
def test_a_damaged_declaration_says_nothing(tmp_path, content):
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text(content)
    assert declared_pooling(str(tmp_path)) is None


def test_masks_of_all_attention_implementations_are_understood():
    flags = torch.tensor([[True, True, False]])
    added = torch.where(flags, 0.0, torch.finfo(torch.float32).min)
    for mask in (flags[:, None, None].expand(1, 1, 3, 3), added[:, None, None].expand(1, 1, 3, 3), flags.long()):
        assert seen_tokens(mask).tolist() == [[True, True, False]]
