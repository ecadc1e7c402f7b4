"""The product of experts, by hand for both heads."""

import math

import pytest
import torch

from masker.losses.document_loss import classification_loss
from masker.losses.product_of_experts import product_of_experts

LOG3 = math.log(3)
HEADS = ["multi-class", "one-vs-rest"]
LOGITS = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
BIAS = torch.randn(5, 4, generator=torch.Generator().manual_seed(1))
LABELS = torch.tensor([0, 1, 2, 3, 0])


def test_multi_class_by_hand():
    """p = (3, 1) / 4.

    b = (1, 3) / 4: products 3/16 and 3/16, so (1, 1) / 2. b = (3, 1) / 4: 9/16 and 1/16, so (9, 1) / 10.
    b = (1, 1) / 2 changes nothing.
    """
    logits = torch.tensor([[LOG3, 0.0]]).expand(3, 2)
    bias = torch.tensor([[0.0, LOG3], [LOG3, 0.0], [5.0, 5.0]])
    probabilities = product_of_experts(logits, bias, "multi-class").softmax(dim=1)
    torch.testing.assert_close(probabilities, torch.tensor([[0.5, 0.5], [0.9, 0.1], [0.75, 0.25]]))


def test_one_vs_rest_by_hand():
    """p = (3/4, 1/2), b = (1/4, 3/4), class by class.

    3/4 · 1/4 against 1/4 · 3/4: 1/2. 1/2 · 3/4 against 1/2 · 1/4: 3/4.
    """
    ensemble = product_of_experts(torch.tensor([[LOG3, 0.0]]), torch.tensor([[-LOG3, LOG3]]), "one-vs-rest")
    torch.testing.assert_close(ensemble.sigmoid(), torch.tensor([[0.5, 0.75]]))


def test_multi_class_logits_are_log_probabilities_and_ignore_constants():
    ensemble = product_of_experts(LOGITS, BIAS, "multi-class")
    torch.testing.assert_close(ensemble.exp().sum(dim=1), torch.ones(5))
    torch.testing.assert_close(product_of_experts(LOGITS + 3.0, BIAS - 7.0, "multi-class"), ensemble)


def test_one_vs_rest_is_the_product_of_bernoullis():
    p, b = LOGITS.sigmoid(), BIAS.sigmoid()
    expected = p * b / (p * b + (1 - p) * (1 - b))
    torch.testing.assert_close(product_of_experts(LOGITS, BIAS, "one-vs-rest").sigmoid(), expected)


@pytest.mark.parametrize("head", HEADS)
def test_an_uninformative_bias_does_not_change_the_loss(head):
    ensemble = product_of_experts(LOGITS, torch.zeros_like(LOGITS), head)
    torch.testing.assert_close(
        classification_loss(ensemble, LABELS, head), classification_loss(LOGITS, LABELS, head), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("head", HEADS)
def test_gradient_flows_into_the_debiased_model_only(head):
    logits, bias = LOGITS.clone().requires_grad_(), BIAS.clone().requires_grad_()
    classification_loss(product_of_experts(logits, bias, head), LABELS, head).sum().backward()
    assert logits.grad.abs().sum() > 0
    assert bias.grad is None


@pytest.mark.parametrize("head", HEADS)
def test_what_the_bias_explains_teaches_little(head):
    """Equal logits, with a bias that is sure of the label and with one that is sure of the other class."""
    gradients = []
    for sign in (8.0, -8.0):
        logits = torch.zeros(1, 2, requires_grad=True)
        ensemble = product_of_experts(logits, torch.tensor([[sign, -sign]]), head)
        classification_loss(ensemble, torch.tensor([0]), head).sum().backward()
        gradients.append(logits.grad.abs().max().item())
    assert gradients[0] < 0.01 < 0.9 < gradients[1]
