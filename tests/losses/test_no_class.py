"""MER with the target "no class", by hand and against torch."""

import math

import pytest
import torch
from torch.nn import functional

from masker.losses.masked_entropy import entropy_loss
from masker.losses.no_class import no_class_loss


def test_two_classes_by_hand():
    """Sigmoids of (log 3, 0) are 3/4 and 1/2: -log(1/4) - log(1/2) = log 8."""
    assert no_class_loss(torch.tensor([[math.log(3), 0.0]])).item() == pytest.approx(math.log(8))


def test_is_the_one_vs_rest_loss_without_a_true_class():
    logits = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
    expected = functional.binary_cross_entropy_with_logits(logits, torch.zeros_like(logits), reduction="none")
    torch.testing.assert_close(no_class_loss(logits), expected.sum(dim=1))


def test_the_level_of_equal_logits_matters():
    high, low = torch.full((1, 3), 8.0), torch.full((1, 3), -8.0)
    assert entropy_loss(high).item() == pytest.approx(entropy_loss(low).item(), abs=1e-6)
    assert no_class_loss(high).item() == pytest.approx(3 * 8.0, abs=2e-3)
    assert no_class_loss(low).item() < 2e-3


def test_gradient_pushes_every_class_down():
    logits = torch.zeros(2, 4, requires_grad=True)
    no_class_loss(logits).sum().backward()
    assert (logits.grad == 0.5).all()
