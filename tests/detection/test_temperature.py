"""Temperature scaling by hand, at its minimum, and its effect on fresh documents."""

import math

import numpy as np
import pytest
import torch

from masker.detection.scores.max_probability import class_probabilities
from masker.detection.temperature import fit_temperature, negative_log_likelihood, smooth_targets
from masker.metrics import expected_calibration_error

DRAW = np.random.default_rng(0)
HEADS = ["one-vs-rest", "multi-class"]


def test_targets_by_hand():
    """n = 2: epsilon 1/4; three classes: 3/4 for the true one and 1/8 for each other."""
    expected = [[1 / 8, 3 / 4, 1 / 8], [3 / 4, 1 / 8, 1 / 8]]
    np.testing.assert_allclose(smooth_targets(np.array([1, 0]), 3), expected)


def test_temperature_by_hand():
    """98 documents with logits (a, 0), all of class 0: epsilon = 1/100, so the scaled logits should differ by log 99:

    a / T = log 99. With a = 2 log 99: T = 2; with a = log 99 / 2: T = 1/2.
    """
    labels = np.zeros(98, dtype=np.int64)
    for factor in (2.0, 0.5):
        logits = np.tile([factor * math.log(99), 0.0], (98, 1))
        assert fit_temperature(logits, labels, "multi-class") == pytest.approx(factor, rel=1e-4)
    logits = np.tile([3 * math.log(99), -3 * math.log(99)], (98, 1))  # sigmoids 0.99 and 0.01 after division by 3
    assert fit_temperature(logits, labels, "one-vs-rest") == pytest.approx(3.0, rel=1e-4)


@pytest.mark.parametrize("head", HEADS)
def test_loss_against_torch(head):
    logits, labels = DRAW.normal(size=(50, 4)), DRAW.integers(0, 4, 50)
    targets = smooth_targets(labels, 4)
    z, t = torch.from_numpy(logits / 1.7), torch.from_numpy(targets)
    loss = (
        torch.nn.functional.cross_entropy
        if head == "multi-class"
        else torch.nn.functional.binary_cross_entropy_with_logits
    )
    expected = loss(z, t, reduction="sum").item()
    assert negative_log_likelihood(1.7, logits, targets, head) == pytest.approx(expected)


@pytest.mark.parametrize("head", HEADS)
def test_derivative_is_zero_at_the_temperature(head):
    labels = DRAW.integers(0, 3, 400)
    logits = 5 * (np.eye(3)[labels] - 0.5) + 4 * DRAW.normal(size=(400, 3))
    temperature = fit_temperature(logits, labels, head)
    targets = smooth_targets(labels, 3)
    loss = [negative_log_likelihood(temperature * factor, logits, targets, head) for factor in (0.98, 1.0, 1.02)]
    assert loss[1] < loss[0] and loss[1] < loss[2]


@pytest.mark.parametrize("head", HEADS)
def test_overconfident_logits_become_calibrated_on_fresh_documents(head):
    """Calibrated logits, multiplied by 4: the temperature recovers the 4."""

    def documents(count):
        z = 2 * DRAW.normal(size=(count, 3))
        p = class_probabilities(z, "multi-class")
        return z, (p.cumsum(axis=1) > DRAW.random((count, 1))).argmax(axis=1)

    z, labels = documents(4000)
    temperature = fit_temperature(4 * z, labels, head)
    if head == "multi-class":
        assert temperature == pytest.approx(4.0, rel=0.1)
    z, labels = documents(4000)

    def error(logits):
        p = class_probabilities(logits, head)
        return expected_calibration_error(p.max(axis=1), p.argmax(axis=1) == labels)

    assert error(4 * z / temperature) < 0.5 * error(4 * z)


def test_few_documents_leave_the_confidence_unchanged():
    assert fit_temperature(np.tile([5.0, 0.0], (19, 1)), np.zeros(19, dtype=np.int64), "multi-class") == 1.0


def test_targets_of_several_labels_by_hand():
    """n = 2: epsilon 1/4, taken from three true labels and given to the three others in equal parts: 1/4 each."""
    np.testing.assert_allclose(
        smooth_targets(np.array([[1, 1, 0], [0, 1, 0]]), 3), [[3 / 4, 3 / 4, 1 / 4], [1 / 4, 3 / 4, 1 / 4]]
    )


def test_temperature_of_several_labels():
    """98 documents, labels {0, 1} and not 2 or 3, logits 2 log 99 apart from 0: sigmoids 0.99 and 0.01 at T = 2."""
    flags = np.tile([1, 1, 0, 0], (98, 1))
    logits = np.where(flags, 2 * math.log(99), -2 * math.log(99))
    assert fit_temperature(logits, flags, "multi-label") == pytest.approx(2.0, rel=1e-4)


def test_twenty_documents_are_enough():
    """ε = 1/22, so the scaled logits should differ by log 21: T = 2 log 21 / log 21."""
    logits = np.tile([2 * math.log(21), 0.0], (20, 1))
    assert fit_temperature(logits, np.zeros(20, dtype=np.int64), "multi-class") == pytest.approx(2.0, rel=1e-4)


def test_the_temperature_has_bounds():
    """Logits 1,000 apart ask for T = 1,000 / log 99 = 218, logits 0.001 apart for 0.0002."""
    labels = np.zeros(98, dtype=np.int64)
    for apart, bound in ((1000.0, 20.0), (0.001, 0.05)):
        logits = np.tile([apart, 0.0], (98, 1))
        assert fit_temperature(logits, labels, "multi-class") == pytest.approx(bound, rel=1e-3)


def test_uneven_numbers_of_labels_by_hand():
    """n = 2, four labels and two gaps: 4 · 1/4 over two, 1/2 each. n = 1, ε = 1/3: one gap gets all, none nothing."""
    found = smooth_targets(np.array([[1, 1, 1], [0, 1, 0]]), 3)
    np.testing.assert_allclose(found, [[3 / 4, 3 / 4, 3 / 4], [1 / 2, 3 / 4, 1 / 2]])
    np.testing.assert_allclose(smooth_targets(np.array([[1, 0]]), 2), [[2 / 3, 1 / 3]])
    with np.errstate(all="raise"):
        np.testing.assert_allclose(smooth_targets(np.array([[1, 1]]), 2), [[2 / 3, 2 / 3]])
        np.testing.assert_allclose(smooth_targets(np.array([0]), 1), [[2 / 3]])
