"""L_MER, by hand and against torch."""

import math

import pytest
import torch
from torch.nn import functional

from masker.losses.masked_entropy import entropy_loss

LOGITS = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("n_classes", [2, 3, 20])
@pytest.mark.parametrize("value", [0.0, -7.5, 30.0])
def test_equal_logits_give_zero(n_classes, value):
    assert entropy_loss(torch.full((2, n_classes), value)).tolist() == pytest.approx([0.0, 0.0], abs=1e-6)


def test_two_classes_by_hand():
    """Logits (log 3, 0): f = (3/4, 1/4), U = (1/2, 1/2).

    KL(U || f) = 1/2 log((1/2) / (3/4)) + 1/2 log((1/2) / (1/4)) = 1/2 log(2/3) + 1/2 log 2 = 1/2 log(4/3).
    """
    assert entropy_loss(torch.tensor([[math.log(3), 0.0]])).item() == pytest.approx(0.5 * math.log(4 / 3))


def test_direction_of_the_divergence():
    """KL(f || U) of the same example would be 3/4 log(3/2) + 1/4 log(1/2) = 0.1308, not 0.1438."""
    loss = entropy_loss(torch.tensor([[math.log(3), 0.0]])).item()
    assert loss == pytest.approx(0.14384, abs=1e-5)
    assert loss != pytest.approx(0.75 * math.log(1.5) + 0.25 * math.log(0.5), abs=1e-3)


def test_equals_kl_div_of_torch_with_batchmean():
    uniform = torch.full_like(LOGITS, 1 / 5)
    expected = functional.kl_div(LOGITS.log_softmax(dim=1), uniform, reduction="batchmean")
    torch.testing.assert_close(entropy_loss(LOGITS).mean(), expected)


def test_is_not_divided_by_the_number_of_classes():
    """Duplicating each class (same probabilities, halved) does not change the divergence from uniform.

    A mean over classes, as in torch's reduction='mean', would halve it.
    """
    torch.testing.assert_close(entropy_loss(LOGITS.repeat(1, 2)), entropy_loss(LOGITS), atol=1e-6, rtol=1e-5)


def test_shift_of_all_logits_changes_nothing():
    torch.testing.assert_close(entropy_loss(LOGITS + 3.0), entropy_loss(LOGITS), atol=1e-5, rtol=1e-5)


def test_positive_unless_uniform():
    assert (entropy_loss(LOGITS) > 0).all()


def test_one_vs_rest_logits_are_compared_through_their_softmax():
    """Two confident sigmoids (z = 5, 5) are equal logits: the loss is 0, as the docstring says.

    Only the difference of the logits matters: (5 + log 3, 5) gives the 1/2 log(4/3) of the example above.
    """
    loss = entropy_loss(torch.tensor([[5.0, 5.0], [-5.0, -5.0], [5.0 + math.log(3), 5.0]]))
    assert loss.tolist() == pytest.approx([0.0, 0.0, 0.5 * math.log(4 / 3)], abs=1e-6)


def test_gradient_pulls_towards_uniform():
    """d/dz_c = softmax_c - 1/C: (3/4 - 1/2, 1/4 - 1/2) = (1/4, -1/4)."""
    logits = torch.tensor([[math.log(3), 0.0]], requires_grad=True)
    entropy_loss(logits).sum().backward()
    assert logits.grad[0].tolist() == pytest.approx([0.25, -0.25])


def test_extreme_and_half_precision_logits_stay_finite():
    loss = entropy_loss(torch.tensor([[100.0, -100.0]], dtype=torch.bfloat16))
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(100 - math.log(2), rel=1e-4)
