"""L_attn by hand."""

from __future__ import annotations

import math

import pytest
import torch

from masker.losses.uniform_attention import uniform_attention_loss

CONTENT = torch.tensor([[False, True, True, False]])


def test_by_hand():
    """Half of the attention goes to special tokens; what is left is (3/4, 1/4) of the content.

    −½ (log(2 · 3/4) + log(2 · 1/4)) = ½ log(4/3) = 0.1438.
    """
    loss = uniform_attention_loss(torch.tensor([[0.4, 0.375, 0.125, 0.1]]), CONTENT)
    assert loss.tolist() == pytest.approx([0.5 * math.log(4 / 3)])


def test_uniform_attention_costs_nothing_whatever_special_tokens_get():
    loss = uniform_attention_loss(torch.tensor([[0.2, 0.3, 0.3, 0.2], [0.8, 0.1, 0.1, 0.0]]), CONTENT.repeat(2, 1))
    torch.testing.assert_close(loss, torch.zeros(2))


def test_documents_of_any_length_and_none():
    """(1/2, 1/4, 1/4) of three: −⅓ (log 3/2 + 2 log 3/4) = ⅓ log(32/27); a document without content costs 0."""
    attention = torch.tensor([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]], requires_grad=True)
    content = torch.tensor([[True, True, True], [False, False, False]])
    loss = uniform_attention_loss(attention, content)
    assert loss.tolist() == pytest.approx([math.log(32 / 27) / 3, 0.0])
    loss.sum().backward()
    assert torch.isfinite(attention.grad).all() and attention.grad[1].abs().sum() == 0


def test_its_gradient_moves_attention_to_words_that_have_little():
    attention = torch.tensor([[0.0, 0.9, 0.1, 0.0]], requires_grad=True)
    uniform_attention_loss(attention, CONTENT).backward()
    assert attention.grad[0, 1] > 0 > attention.grad[0, 2]


def test_a_single_word_that_got_nothing_costs_much_not_infinitely_much():
    """One word of weight 0: −log of the smallest normal number, 126 log 2 = 87.3; with any weight it has all, 0."""
    content = torch.tensor([[False, True], [False, True]])
    loss = uniform_attention_loss(torch.tensor([[1.0, 0.0], [0.9, 0.1]]), content)
    assert loss.tolist() == pytest.approx([126 * math.log(2), 0.0])
