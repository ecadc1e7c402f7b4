"""f_doc and f_tok on one forward pass."""

from __future__ import annotations

import pytest
import torch

from masker.config import ModelSettings
from masker.modeling.backbone import load_backbone
from masker.modeling.network import MaskerNetwork, encoder_stack
from tests.conftest import FAMILIES


@pytest.fixture(params=FAMILIES)
def network(request, tiny_backbones) -> MaskerNetwork:
    backbone = load_backbone(ModelSettings(backbone=tiny_backbones[request.param]), ["a", "b", "c"])
    return MaskerNetwork(backbone.classifier, n_targets=5).eval()


def test_token_logits_are_the_head_on_the_last_hidden_states(network):
    """f_tok at (row, column) is W h + b with h the encoder's own last hidden state there, and nowhere else."""
    ids = torch.randint(6, 60, (3, 9))
    mask = torch.ones_like(ids)
    rows, columns = torch.tensor([0, 2, 2]), torch.tensor([4, 1, 8])
    output = network(ids, mask, masked_rows=rows, masked_columns=columns)
    hidden = network.classifier.base_model(input_ids=ids, attention_mask=mask).last_hidden_state
    expected = hidden[rows, columns] @ network.token_head.weight.T + network.token_head.bias
    torch.testing.assert_close(output["token_logits"], expected)
    torch.testing.assert_close(output["doc_logits"], network.classifier(input_ids=ids, attention_mask=mask).logits)


def test_no_masked_position_gives_empty_logits_that_still_have_a_gradient(network):
    ids = torch.randint(6, 60, (2, 7))
    nothing = torch.zeros(0, dtype=torch.long)
    logits = network(ids, torch.ones_like(ids), masked_rows=nothing, masked_columns=nothing)["token_logits"]
    assert logits.shape == (0, 5)
    logits.sum().backward()
    assert network.token_head.weight.grad.abs().sum() == 0


def test_without_targets_there_is_no_token_head(tiny_backbones):
    backbone = load_backbone(ModelSettings(backbone=tiny_backbones["bert"]), ["a", "b"])
    network = MaskerNetwork(backbone.classifier)
    assert network.token_head is None
    ids = torch.randint(6, 60, (2, 7))
    assert set(network(ids, torch.ones_like(ids))) == {"doc_logits"}


def test_embedding_parameters_are_the_embedding_layers(network):
    names = network.embedding_parameter_names()
    assert names
    assert all(".embeddings." in name for name in names)
    assert any("word_embeddings" in name for name in names)
    assert any("position_embeddings" in name for name in names)
    words = network.classifier.get_input_embeddings().weight
    assert any(parameter is words for name, parameter in network.named_parameters() if name in names)


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_token_head_reads_the_layer_below_the_pooling_layer(tiny_backbones, family):
    """Pooled or not, f_tok reads the states of the encoder's own last layer."""
    plain, pooled = (
        MaskerNetwork(
            load_backbone(ModelSettings(backbone=tiny_backbones[family], pooling=pooling), ["a", "b"]).classifier, 5
        ).eval()
        for pooling in ("document-token", "mean")
    )
    pooled.token_head.load_state_dict(plain.token_head.state_dict())
    ids = torch.randint(6, 60, (3, 9))
    places = {"masked_rows": torch.tensor([0, 2]), "masked_columns": torch.tensor([8, 3])}
    expected, found = (network(ids, torch.ones_like(ids), **places) for network in (plain, pooled))
    torch.testing.assert_close(found["token_logits"], expected["token_logits"])
    assert found["doc_logits"].shape == (3, 2)


def trained(network) -> set[str]:
    return {name for name, parameter in network.named_parameters() if parameter.requires_grad}


def test_freeze_embeddings_and_lowest_layers(tiny_backbones):
    backbone = load_backbone(ModelSettings(backbone=tiny_backbones["bert"]), ["a", "b"])
    network = MaskerNetwork(backbone.classifier, 5)
    everything = trained(network)
    network.freeze(embeddings=False, layers=0)
    assert trained(network) == everything
    network.freeze(embeddings=True, layers=1)
    fixed = everything - trained(network)
    assert all(".embeddings." in name or ".layer.0." in name for name in fixed)
    assert network.embedding_parameter_names() <= fixed and any(".layer.0." in name for name in fixed)


def test_the_pooling_is_never_trained(tiny_backbones):
    backbone = load_backbone(ModelSettings(backbone=tiny_backbones["bert"], pooling="mean"), ["a", "b"])
    network = MaskerNetwork(backbone.classifier)
    everything = trained(network)
    network.freeze(embeddings=False, layers=0)
    fixed = everything - trained(network)
    assert fixed and all(".layer.2." in name or ".pooler.dense." in name for name in fixed)
    assert any(".layer.2." in name for name in fixed) and any(".pooler." in name for name in fixed)


def test_layers_that_can_be_frozen(tiny_backbones):
    """Without the pooling layer; ALBERT's share their weights, so one cannot be frozen alone."""

    def count(family, pooling="document-token"):
        settings = ModelSettings(backbone=tiny_backbones[family], pooling=pooling)
        return len(encoder_stack(load_backbone(settings, ["a", "b"]).classifier))

    assert (count("bert"), count("bert", "mean"), count("roberta", "mean"), count("albert")) == (2, 2, 2, 0)
