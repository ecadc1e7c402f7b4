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

#: Whether this processor has the kernels: those of bfloat16 need AVX-512 or AVX-NE-CONVERT.
HAS_KERNELS = {dtype: packed_linear._has_kernels(dtype) for dtype in (torch.float32, torch.bfloat16)}


@pytest.mark.skipif(not HAS_KERNELS[torch.float32], reason="PyTorch without mkldnn")
def test_a_product_by_hand():
    """W = [[1, 2], [3, 4]], b = [10, 20], x = [5, 6]: W x + b = [5 + 12 + 10, 15 + 24 + 20] = [27, 59]."""
    layer = nn.Linear(2, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        layer.bias.copy_(torch.tensor([10.0, 20.0]))
        assert PackedLinear(layer)(torch.tensor([[5.0, 6.0]])).tolist() == [[27.0, 59.0]]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", HAS_KERNELS)
def test_a_whole_classifier_answers_the_same(tiny_backbones, family, dtype):
    """Packed where the processor has the kernels, unchanged where not."""
    classifier = load_backbone(ModelSettings(backbone=tiny_backbones[family]), ["a", "b", "c"]).classifier.eval()
    classifier = classifier.to(dtype)
    packed = copy.deepcopy(classifier)
    linears = sum(type(module) is nn.Linear for module in classifier.modules())
    assert linears > 5
    assert pack_linears(packed) == (linears if HAS_KERNELS[dtype] else 0)
    assert sum(type(module) is nn.Linear for module in packed.modules()) == (0 if HAS_KERNELS[dtype] else linears)
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
