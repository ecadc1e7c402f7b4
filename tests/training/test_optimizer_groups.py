"""Learning rates and weight decay of the parts of a network."""

from __future__ import annotations

import pytest

from masker.config import TrainingSettings
from masker.modeling.backbone import load_backbone
from masker.modeling.network import MaskerNetwork
from masker.training.optimizer_groups import optimizer_groups


@pytest.fixture
def network(tiny_settings):
    return MaskerNetwork(load_backbone(tiny_settings("bert").model, ["food", "space", "sport"]).classifier, 2)


def options_of(network, *options, regularized, **training):
    """These options of every parameter; biases and norms have no decay."""
    decayed = [name for name, _ in network.named_parameters() if not name.endswith("bias") and "LayerNorm" not in name]
    groups = optimizer_groups(network, TrainingSettings(**training), decayed, regularized=regularized)
    given = {id(p): tuple(group[name] for name in options) for group in groups for p in group["params"]}
    assert sum(len(group["params"]) for group in groups) == len(given), "every parameter once"
    return {name: given[id(parameter)] for name, parameter in network.named_parameters()}


def test_parameter_groups(network):
    """Embeddings slower with a regularizer, heads faster, and no decay of biases and norms."""
    training = {"learning_rate": 1e-3, "embedding_lr_scale": 0.5, "head_lr_scale": 10.0, "weight_decay": 0.1}
    for regularized, slow in ((True, 5e-4), (False, 1e-3)):
        found = options_of(network, "lr", "weight_decay", regularized=regularized, **training)
        assert found["classifier.bert.embeddings.word_embeddings.weight"] == pytest.approx((slow, 0.1))
        layer = "classifier.bert.encoder.layer.0.attention.self.query."
        assert found[layer + "weight"] == pytest.approx((1e-3, 0.1))
        assert found[layer + "bias"] == pytest.approx((1e-3, 0.0))
        assert found["classifier.bert.embeddings.LayerNorm.weight"][1] == 0.0
        assert found["classifier.classifier.weight"] == pytest.approx((1e-2, 0.1))
        assert found["token_head.weight"] == pytest.approx((1e-2, 0.1))


def test_the_whole_encoder_may_be_the_embedding_network(network):
    """Halved: embeddings, layers and pooler, everything but the two classifiers, and only with a regularizer."""
    training = {"learning_rate": 1e-3, "embedding_lr_scale": 0.5, "embedding_layers": "encoder", "head_lr_scale": 1.0}
    for regularized, slow in ((True, 5e-4), (False, 1e-3)):
        found = options_of(network, "lr", regularized=regularized, **training)
        heads = {name for name in found if not name.startswith("classifier.bert.")}
        assert heads >= {"classifier.classifier.weight", "classifier.classifier.bias"}
        assert {found[name] for name in heads} == {(1e-3,)} and {found[name] for name in found.keys() - heads} == {
            (slow,)
        }


def test_what_is_not_trained_is_left_out(network):
    network.classifier.bert.embeddings.requires_grad_(False)
    parameters = [
        p for group in optimizer_groups(network, TrainingSettings(), [], regularized=True) for p in group["params"]
    ]
    assert parameters and all(parameter.requires_grad for parameter in parameters)
