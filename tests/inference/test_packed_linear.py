"""Packed layers give what the layers they stand for give."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from masker.config import ModelSettings
from masker.inference import packed_linear
from masker.inference.packed_linear import PackedLinear, pack_linears
from masker.modeling.backbone import load_backbone
from tests.conftest import FAMILIES

needs_kernels = pytest.mark.skipif(not packed_linear._has_kernels(torch.float32), reason="PyTorch without mkldnn")


@needs_kernels
def test_a_product_by_hand():
    """W = [[1, 2], [3, 4]], b = [10, 20], x = [5, 6]: W x + b = [5 + 12 + 10, 15 + 24 + 20] = [27, 59]."""
    layer = nn.Linear(2, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        layer.bias.copy_(torch.tensor([10.0, 20.0]))
        assert PackedLinear(layer)(torch.tensor([[5.0, 6.0]])).tolist() == [[27.0, 59.0]]


@needs_kernels
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_whole_classifier_answers_the_same(tiny_backbones, family, dtype):
    classifier = load_backbone(ModelSettings(backbone=tiny_backbones[family]), ["a", "b", "c"]).classifier.eval()
    classifier = classifier.to(dtype)
    packed = copy.deepcopy(classifier)
    assert pack_linears(packed) > 10 if family != "albert" else pack_linears(packed) > 5
    assert not any(type(module) is nn.Linear for module in packed.modules())
    ids = torch.randint(6, 60, (3, 9))
    mask = torch.ones_like(ids)
    mask[1, 5:] = 0
    with torch.inference_mode():
        ours = packed(input_ids=ids, attention_mask=mask).logits
        theirs = classifier(input_ids=ids, attention_mask=mask).logits
    tolerance = 1e-5 if dtype == torch.float32 else 2e-2
    torch.testing.assert_close(ours, theirs, atol=tolerance, rtol=tolerance)


def test_without_the_kernels_nothing_changes(tiny_backbones, monkeypatch):
    classifier = load_backbone(ModelSettings(backbone=tiny_backbones["bert"]), ["a", "b"]).classifier

    def missing(*_: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(packed_linear, "PackedLinear", missing)
    assert pack_linears(classifier) == 0
    assert any(type(module) is nn.Linear for module in classifier.modules())
