"""L_CE of the three heads, by hand and against torch."""

import math

import pytest
import torch
from torch.nn import functional

from masker.losses.document_loss import balanced_class_weights, classification_loss

LOG2, LOG3 = math.log(2), math.log(3)


def test_multi_class_by_hand():
    """Logits (log 2, 0, 0): probabilities (2, 1, 1) / 4.

    -log p_0 = log 2; -log p_1 = log 4. Equal logits over 3 classes: log 3.
    """
    logits = torch.tensor([[LOG2, 0.0, 0.0], [LOG2, 0.0, 0.0], [1.0, 1.0, 1.0]])
    loss = classification_loss(logits, torch.tensor([0, 1, 2]), "multi-class")
    assert loss.tolist() == pytest.approx([LOG2, 2 * LOG2, LOG3])


def test_one_vs_rest_by_hand():
    """Logits (log 3, 0): sigmoids 3/4 and 1/2.

    True class 0: -log(3/4) - log(1 - 1/2) = log(4/3) + log 2 = log(8/3).
    True class 1: -log(1 - 3/4) - log(1/2) = log 4 + log 2 = log 8.
    The terms are summed over classes, not averaged.
    """
    logits = torch.tensor([[LOG3, 0.0], [LOG3, 0.0]])
    loss = classification_loss(logits, torch.tensor([0, 1]), "one-vs-rest")
    assert loss.tolist() == pytest.approx([math.log(8 / 3), math.log(8)])


def test_regression_by_hand():
    """(2.5 - 4)^2 = 2.25 and (-1 - -1)^2 = 0."""
    loss = classification_loss(torch.tensor([[2.5], [-1.0]]), torch.tensor([4.0, -1.0]), "regression")
    assert loss.tolist() == pytest.approx([2.25, 0.0])


def test_class_weights_multiply_by_the_true_class():
    """Equal logits over 2 classes: log 2 (softmax) or 2 log 2 (two sigmoids); weights 3 and 0.5."""
    logits, labels, weights = torch.zeros(3, 2), torch.tensor([0, 1, 0]), torch.tensor([3.0, 0.5])
    loss = classification_loss(logits, labels, "multi-class", weights)
    assert loss.tolist() == pytest.approx([3 * LOG2, 0.5 * LOG2, 3 * LOG2])
    loss = classification_loss(logits, labels, "one-vs-rest", weights)
    assert loss.tolist() == pytest.approx([6 * LOG2, LOG2, 6 * LOG2])


def test_agrees_with_torch():
    logits = torch.randn(7, 4, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 1, 2, 3, 0, 1, 2])
    torch.testing.assert_close(
        classification_loss(logits, labels, "multi-class").mean(), functional.cross_entropy(logits, labels)
    )
    torch.testing.assert_close(
        classification_loss(logits, labels, "one-vs-rest").mean() / 4,
        functional.binary_cross_entropy_with_logits(logits, functional.one_hot(labels, 4).float()),
    )


@pytest.mark.parametrize(
    ("head", "expected"), [("multi-class", math.log1p(math.exp(-6))), ("one-vs-rest", 2 * math.log1p(math.exp(-3)))]
)
def test_half_precision_logits_are_evaluated_in_single(head, expected):
    """Logits (3, -3), true class 0: log(1 + e^-6), or twice log(1 + e^-3); bfloat16 keeps only 3 digits of either."""
    logits = torch.tensor([[3.0, -3.0]], dtype=torch.bfloat16)
    loss = classification_loss(logits, torch.tensor([0]), head)
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("head", ["multi-class", "one-vs-rest"])
def test_extreme_logits_stay_finite(head):
    loss = classification_loss(torch.tensor([[1e4, -1e4]]), torch.tensor([1]), head)
    assert loss.isfinite().all()


def test_balanced_weights_by_hand():
    """4 documents, 2 classes with 3 and 1: N / (C N_c) = 4 / 6 and 4 / 2; the mean over documents is 1."""
    labels = torch.tensor([0, 0, 1, 0])
    weights = balanced_class_weights(labels, 2)
    assert weights.tolist() == pytest.approx([2 / 3, 2.0])
    assert weights[labels].mean().item() == pytest.approx(1.0)


def test_balanced_weights_of_an_absent_class():
    assert balanced_class_weights(torch.tensor([0, 2]), 3).tolist() == pytest.approx([2 / 3, 0.0, 2 / 3])


def test_multi_label_by_hand():
    """Logits (log 3, 0): sigmoids 3/4 and 1/2. Labels {0, 1}: log(4/3) + log 2; none: log 4 + log 2.

    A document with one label has the loss of a 1-vs-rest head.
    """
    logits = torch.tensor([[LOG3, 0.0]]).repeat(3, 1)
    labels = torch.tensor([[1, 1], [0, 0], [0, 1]], dtype=torch.int8)
    loss = classification_loss(logits, labels, "multi-label")
    assert loss.tolist() == pytest.approx([math.log(8 / 3), math.log(8), math.log(8)])
    assert loss[2:] == classification_loss(logits[:1], torch.tensor([1]), "one-vs-rest")
