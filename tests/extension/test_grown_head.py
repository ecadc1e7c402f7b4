"""The larger head: its loss by hand, and what it leaves alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from masker.extension.grown_head import class_balance, grow_head, head_loss
from masker.training.probe import LinearMap


def test_balance_by_hand():
    """Four texts of class 0, one of class 2: 1/2 and 1, with the mean (4/2 + 1) / 5 = 3/5; so 5/6 and 5/3."""
    assert class_balance(np.array([0, 0, 0, 0, 2])).tolist() == pytest.approx([5 / 6] * 4 + [5 / 3])


def test_losses_by_hand():
    """Logits (0, log 3) of class 1, weight 2: softmax gives 3/4, so 2 log 4/3. Sigmoids give 1/2 and 3/4."""
    logits, labels, weights = np.array([[0.0, math.log(3)]]), np.array([1]), np.array([2.0])
    loss, slope = head_loss(logits, labels, weights, "multi-class")
    assert loss == pytest.approx(2 * math.log(4 / 3))
    np.testing.assert_allclose(slope, [[0.5, -0.5]])
    loss, slope = head_loss(logits, labels, weights, "one-vs-rest")
    assert loss == pytest.approx(2 * (math.log(2) + math.log(4 / 3)))
    np.testing.assert_allclose(slope, [[1.0, -0.5]])


@pytest.mark.parametrize("head", ["multi-class", "one-vs-rest"])
def test_the_gradient_is_that_of_the_loss(head):
    draw = np.random.default_rng(0)
    logits, labels, weights = draw.standard_normal((4, 3)), np.array([0, 2, 1, 2]), draw.random(4)
    numeric = approx_fprime(logits.ravel(), lambda flat: head_loss(flat.reshape(4, 3), labels, weights, head)[0])
    np.testing.assert_allclose(head_loss(logits, labels, weights, head)[1].ravel(), numeric, atol=1e-5)


@pytest.mark.parametrize("head", ["multi-class", "one-vs-rest"])
def test_a_new_class_is_learnt_and_the_old_ones_stay_known(head):
    draw = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    vectors = 3 * np.eye(4)[truth] + 0.3 * draw.standard_normal((60, 4))
    old = LinearMap(np.array([[4.0, -4, 0, 0], [-4, 4, 0, 0]]), np.zeros(2))
    grown = grow_head(old, vectors, truth, 3, head)
    assert (grown(vectors).argmax(axis=1) == truth).all()


def test_a_head_that_is_right_and_sure_stays_where_it_is():
    """Nothing to learn: the losses are nearly 0, and the rows are held by the first term."""
    vectors, labels = np.array([[1.0, 0], [0, 1]]), np.array([0, 1])
    old = LinearMap(np.array([[30.0, -30], [-30, 30]]), np.array([0.5, 0.5]))
    grown = grow_head(old, vectors, labels, 2, "multi-class")
    np.testing.assert_allclose(grown.weight, old.weight, atol=1e-6)
    np.testing.assert_allclose(grown.bias, old.bias, atol=1e-6)


def test_new_examples_move_a_class_that_was_there():
    vectors = np.array([[1.0, 0], [1, 0.1], [0, 1], [0.1, 1], [-1, -1], [-1, -0.9]])
    labels = np.array([0, 0, 1, 1, 0, 0])
    old = LinearMap(np.array([[5.0, -5], [-5, 5]]), np.array([0.0, 0.5]))
    assert old(vectors).argmax(axis=1)[4:].tolist() == [1, 1]
    assert (grow_head(old, vectors, labels, 2, "multi-class")(vectors).argmax(axis=1) == labels).all()
