"""L_MKR, by hand."""

import math

import pytest
import torch

from masker.losses.reconstruction import reconstruction_loss

LOG2, LOG3 = math.log(2), math.log(3)
# Three masked positions over K = 3 targets; documents 0 and 2 of three own them.
LOGITS = torch.tensor([[LOG2, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, LOG2, 0.0]])
LABELS = torch.tensor([0, 1, 0])
OWNERS = torch.tensor([0, 2, 2])


def test_sum_by_hand():
    """Position 0: softmax (2, 1, 1)/4, target 0: log 2. Position 1: uniform: log 3. Position 2: target has 1/4: log 4.

    Document 0: log 2. Document 1 has no masked keyword: 0. Document 2: log 3 + log 4 = log 12.
    """
    assert reconstruction_loss(LOGITS, LABELS, OWNERS, 3).tolist() == pytest.approx([LOG2, 0.0, math.log(12)])


def test_mean_by_hand():
    """As above, but document 2 has two positions: (log 3 + log 4) / 2."""
    loss = reconstruction_loss(LOGITS, LABELS, OWNERS, 3, "mean")
    assert loss.tolist() == pytest.approx([LOG2, 0.0, math.log(12) / 2])


def test_order_of_positions_does_not_matter():
    order = torch.tensor([2, 0, 1])
    torch.testing.assert_close(
        reconstruction_loss(LOGITS[order], LABELS[order], OWNERS[order], 3),
        reconstruction_loss(LOGITS, LABELS, OWNERS, 3),
    )


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_no_masked_position_gives_zeros_and_a_usable_gradient(reduction):
    head = torch.nn.Linear(4, 3)
    hidden = torch.randn(2, 5, 4)
    none = torch.empty(0, dtype=torch.int64)
    loss = reconstruction_loss(head(hidden[none, none]), none, none, 2, reduction)
    assert loss.tolist() == [0.0, 0.0]
    loss.sum().backward()
    assert head.weight.grad.abs().sum() == 0
    assert head.weight.grad.isfinite().all()


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_document_without_a_keyword_has_no_gradient_of_others(reduction):
    logits = LOGITS.clone().requires_grad_()
    reconstruction_loss(logits, LABELS, OWNERS, 3, reduction)[0].backward()
    assert logits.grad[0].abs().sum() > 0
    assert logits.grad[1:].abs().sum() == 0


def test_gradient_is_softmax_minus_target():
    """d/dz of -log softmax(z)_0 at (2, 1, 1)/4 is (2/4 - 1, 1/4, 1/4)."""
    logits = LOGITS.clone().requires_grad_()
    reconstruction_loss(logits, LABELS, OWNERS, 3).sum().backward()
    assert logits.grad[0].tolist() == pytest.approx([-0.5, 0.25, 0.25])


def test_half_precision_logits_are_evaluated_in_single():
    assert reconstruction_loss(LOGITS.bfloat16(), LABELS, OWNERS, 3).dtype == torch.float32
