"""Dropping tokens after the last attention changes nothing that is read."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from transformers import AlbertConfig, AlbertForSequenceClassification, BertConfig, BertForSequenceClassification

from masker.config import ModelSettings
from masker.inference.features import content_weights, document_features
from masker.inference.last_layer import DocumentTokenPass
from masker.modeling.backbone import load_backbone
from tests.conftest import FAMILIES

SIZES = {"vocab_size": 60, "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 16}


def batch():
    ids = torch.randint(6, 60, (3, 9), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(ids)
    mask[1, 5:] = 0
    return {"input_ids": ids, "attention_mask": mask}


@torch.inference_mode()
def outputs(run):
    """Tokens of the last hidden state; logits and features."""
    inputs = batch()
    output = run(**inputs, output_hidden_states=True)
    features = document_features(output.hidden_states, content_weights(**inputs, special_ids=[]), ["cls", "middle"])
    return output.hidden_states[-1].shape[1], [output.logits, *features.values()]


def check(classifier, tokens):
    length, expected = outputs(classifier)
    left, found = outputs(DocumentTokenPass(classifier))
    assert (length, left) == (9, tokens)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(other.numpy(), one.numpy(), atol=1e-5)
    assert outputs(classifier)[0] == 9, "called directly, the classifier gives all tokens"


@pytest.mark.parametrize("family", FAMILIES)
def test_logits_and_features_stay_the_same(tiny_backbones, family):
    classifier = load_backbone(ModelSettings(backbone=tiny_backbones[family]), ["a", "b", "c"]).classifier.eval()
    check(classifier, 1)
    check(classifier, 1)  # a second pass object on the same classifier
    check(copy.deepcopy(classifier), 1)


@pytest.mark.parametrize(("layers", "groups", "inner"), [(1, 1, 1), (4, 1, 1), (4, 2, 1), (5, 2, 1), (4, 2, 2)])
def test_albert_with_shared_and_grouped_layers(layers, groups, inner):
    shape = {"num_hidden_layers": layers, "num_hidden_groups": groups, "inner_group_num": inner, "embedding_size": 8}
    torch.manual_seed(0)
    check(AlbertForSequenceClassification(AlbertConfig(**SIZES, **shape, initializer_range=0.5)).eval(), 1)


@pytest.mark.parametrize("change", ["chunks", "other type", "other make"])
def test_other_architectures_run_unchanged(change):
    config = BertConfig(num_hidden_layers=2, **SIZES)
    if change == "chunks":
        config.chunk_size_feed_forward = 3
    classifier = BertForSequenceClassification(config).eval()
    if change == "other type":
        config.model_type = "unknown"
    elif change == "other make":
        encoder = classifier.base_model.encoder
        encoder.layer[-1].attention.output, saved = torch.nn.Identity(), encoder.layer[-1].attention.output
        encoder.layer[-1].attention.forward = lambda hidden, *_, **__: (saved(hidden, hidden), None)
        del encoder.layer[-1].attention.output
    check(classifier, 9)


def test_threads_do_not_disturb_each_other(tiny_backbones):
    classifier = load_backbone(ModelSettings(backbone=tiny_backbones["albert"]), ["a", "b"]).classifier.eval()
    run = DocumentTokenPass(classifier)
    with ThreadPoolExecutor(4) as pool:
        found = [task.result() for task in [pool.submit(outputs, (run, classifier)[n % 2]) for n in range(40)]]
    assert [tokens for tokens, _ in found] == [1, 9] * 20
    for _, values in found[1:]:
        for one, other in zip(found[0][1], values, strict=True):
            np.testing.assert_allclose(other.numpy(), one.numpy(), atol=1e-5)


def test_an_error_leaves_no_trace(tiny_backbones):
    classifier = load_backbone(ModelSettings(backbone=tiny_backbones["bert"]), ["a", "b"]).classifier.eval()
    with pytest.raises(ValueError, match="input_ids"):
        DocumentTokenPass(classifier)(input_ids=None)
    assert outputs(classifier)[0] == 9
