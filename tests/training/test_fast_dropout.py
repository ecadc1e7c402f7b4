"""Dropout with cheap random bits does what dropout does."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from masker.config import ModelSettings
from masker.modeling.backbone import load_backbone
from masker.training.fast_dropout import fast_dropout, fast_dropout_in, keep_mask
from tests.conftest import FAMILIES


@pytest.mark.parametrize("p", [0.1, 0.25, 0.5, 0.9])
def test_share_and_independence(p):
    """1,000,000 elements: the share dropped is p within 5 standard deviations, also for each of the four lanes."""
    torch.manual_seed(0)
    keep = keep_mask(torch.empty(1000, 1000), p).bool()
    for part in (keep, *(keep.flatten()[lane::4] for lane in range(4))):
        deviation = (p * (1 - p) / part.numel()) ** 0.5
        assert abs((~part).float().mean().item() - p) < 5 * deviation
    flat = keep.flatten().float() - keep.float().mean()
    for lag in (1, 2, 3, 4, 1000):
        correlation = (flat[:-lag] * flat[lag:]).mean() / (p * (1 - p))
        assert abs(correlation.item()) < 5 / 1000


def test_values_and_gradient():
    """p = 0.5: what is kept is doubled, what is dropped is 0, and the gradient passes by the same mask."""
    torch.manual_seed(1)
    x = torch.randn(7, 5, requires_grad=True)
    y = fast_dropout(x, 0.5)
    kept = y != 0
    torch.testing.assert_close(y, torch.where(kept, 2 * x, 0.0))
    y.sum().backward()
    torch.testing.assert_close(x.grad, torch.where(kept, 2.0, 0.0))


def test_edges():
    x = torch.randn(3, 3)
    assert fast_dropout(x, 0.0) is x
    assert fast_dropout(x, 0.3, training=False) is x
    assert (fast_dropout(x, 1.0) == 0).all()
    assert fast_dropout(torch.randn(0, 4), 0.5).shape == (0, 4)


def test_seeded_by_torch():
    masks = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        masks.append(keep_mask(torch.empty(64), 0.5))
    assert torch.equal(masks[0], masks[1])
    assert not torch.equal(masks[0], masks[2])


@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_without_dropout_gives_the_same_outputs_and_gradients(tiny_backbones, family):
    """With every p set to 0 only the attention function differs, and it must not; with dropout on it must act."""
    classifier = load_backbone(ModelSettings(backbone=tiny_backbones[family]), ["a", "b", "c"]).classifier.train()
    before = classifier.config._attn_implementation
    assert before == ("eager" if family == "mpnet" else "sdpa"), "MPNet has an attention of its own"
    ids = torch.randint(6, 60, (3, 9))
    mask = torch.ones_like(ids)
    mask[1, 6:] = 0

    def run() -> tuple[torch.Tensor, torch.Tensor]:
        classifier.zero_grad()
        logits = classifier(input_ids=ids, attention_mask=mask).logits
        functional.cross_entropy(logits, torch.tensor([0, 1, 2])).backward()
        return logits, torch.cat([p.grad.flatten() for p in classifier.parameters() if p.grad is not None])

    with fast_dropout_in(classifier):
        noisy = [run()[0] for _ in range(2)]
    assert not torch.allclose(*noisy)
    for module in classifier.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    with fast_dropout_in(classifier):
        ours = run()
    theirs = run()
    torch.testing.assert_close(ours, theirs)
    assert classifier.config._attn_implementation == before
    assert not any("forward" in vars(module) for module in classifier.modules())


def test_attention_dropout_follows_the_formula():
    """softmax(q k / sqrt(d)) is dropped out before it meets v: with v = 1 an output is the sum of what is kept."""
    from masker.training import fast_dropout as module

    torch.manual_seed(0)
    layer = torch.nn.Module().train()
    query, key = torch.randn(2, 1, 2, 6, 4)
    value = torch.ones(1, 2, 6, 4)
    torch.manual_seed(5)
    output, _ = module._attention(layer, query, key, value, None, scaling=0.5, dropout=0.5)
    torch.manual_seed(5)
    weights = (query @ key.transpose(2, 3) * 0.5).softmax(dim=-1)
    expected = (weights * keep_mask(weights, 0.5) * 2).sum(dim=-1)  # (1, 2, 6)
    torch.testing.assert_close(output[..., 0], expected.transpose(1, 2))
