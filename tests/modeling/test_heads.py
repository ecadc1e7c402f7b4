"""The output layer of a classifier: found, set, taken out and put back, in every family."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from masker.config import ModelSettings
from masker.documents.encoding import encode
from masker.errors import ModelError
from masker.inference.torch_backend import TorchBackend, head_inputs
from masker.modeling.backbone import load_backbone
from masker.modeling.heads import output_layer, set_output_layer, start_at_prior, without_output_layer
from tests.conftest import FAMILIES, make_corpus

NAMES = {"bert": "classifier", "roberta": "classifier.out_proj", "albert": "classifier", "mpnet": "classifier.out_proj"}
DRAW = np.random.default_rng(0)
WEIGHT, BIAS = DRAW.normal(size=(3, 32)), DRAW.normal(size=3)


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


@pytest.fixture
def backbone(family, tiny_backbones):
    return load_backbone(ModelSettings(backbone=tiny_backbones[family]), ["a", "b", "c"])


def test_it_is_found_by_its_outputs(backbone, family):
    assert output_layer(backbone.classifier) == NAMES[family]
    backbone.classifier.config.num_labels = 4
    assert output_layer(backbone.classifier) is None


def test_a_head_that_is_set_gives_its_logits(backbone):
    """x W^T + b of the vectors that the layer reads, in each family."""
    classifier, tokenizer = backbone.classifier, backbone.tokenizer
    encoded = encode(tokenizer, make_corpus(7)[0], None, 32)
    set_output_layer(classifier, WEIGHT, BIAS)
    vectors = head_inputs(classifier, tokenizer, encoded)
    assert vectors.shape == (7, 32)
    logits = TorchBackend(classifier, tokenizer, "cpu").predict_logits(encoded)
    np.testing.assert_allclose(logits, vectors @ WEIGHT.T + BIAS, atol=1e-5)


@pytest.mark.parametrize("pooled", ["bert", "roberta"])
def test_a_pooled_head_too(tiny_backbones, pooled):
    settings = ModelSettings(backbone=tiny_backbones[pooled], pooling="mean")
    opened = load_backbone(settings, ["a", "b", "c"])
    encoded = encode(opened.tokenizer, make_corpus(7)[0], None, 32)
    set_output_layer(opened.classifier, WEIGHT, BIAS)
    vectors = head_inputs(opened.classifier, opened.tokenizer, encoded)
    logits = TorchBackend(opened.classifier, opened.tokenizer, "cpu").predict_logits(encoded)
    np.testing.assert_allclose(logits, vectors @ WEIGHT.T + BIAS, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=0.1)


def test_without_it_and_back(backbone, family):
    classifier = backbone.classifier
    layer = classifier.get_submodule(NAMES[family])
    names = list(classifier.state_dict())

    def fail():
        with without_output_layer(classifier):
            assert isinstance(classifier.get_submodule(NAMES[family]), nn.Identity)
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert classifier.get_submodule(NAMES[family]) is layer and list(classifier.state_dict()) == names


def test_the_prior_of_a_new_head(backbone, family):
    """Three classes: each sigmoid starts at 1/3, for the bias is -log 2."""
    start_at_prior(backbone.classifier)
    bias = backbone.classifier.get_submodule(NAMES[family]).bias
    torch.testing.assert_close(torch.sigmoid(bias), torch.full((3,), 1 / 3))
    assert bias[0].item() == pytest.approx(-math.log(2))


def test_an_architecture_without_it_is_refused(backbone):
    backbone.classifier.config.num_labels = 4
    with pytest.raises(ModelError, match=r"has no linear output layer .* use --set training\.head_start=new"):
        set_output_layer(backbone.classifier, WEIGHT, BIAS)
    start_at_prior(backbone.classifier)  # nothing to start
