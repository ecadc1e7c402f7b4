"""f_doc and f_tok on one forward pass."""

from __future__ import annotations

import pytest
import torch

from masker.config import ModelSettings
from masker.modeling.backbone import load_backbone
from masker.modeling.network import MaskerNetwork
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
