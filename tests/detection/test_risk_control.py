"""Conformal risk control, worked by hand and by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from masker.detection.risk_control import TrueLabels, missed_share_threshold


def true_labels(documents: list[list[float]]) -> TrueLabels:
    """The logits of each document's true labels, as one table."""
    rows = [(logit, 0, row) for row, logits in enumerate(documents) for logit in logits]
    logits, labels, owners = zip(*rows, strict=True)
    return TrueLabels(np.array(logits, dtype=float), np.array(labels), np.array(owners))


def test_threshold_by_hand():
    """Four documents, n = 4, whose true labels have the logits {1, 3}, {2}, {4}, {5}.

    Weights are 1/2, 1/2, 1, 1, 1. Labels below t are missed, so the sum of all L_i is

        t = 1: 0    t = 2: 1/2    t = 3: 3/2    t = 4: 2    t = 5: 3

    alpha = 0.5 allows alpha (n + 1) - 1 = 1.5, so t = 3: (4/5)(1.5/4) + 1/5 = 0.5.
    alpha = 0.4 allows 1.0, so t = 2; alpha = 0.2 allows 0, so t = 1.
    """
    documents = true_labels([[1, 3], [2], [4], [5]])
    assert missed_share_threshold(documents, 0.5) == 3
    assert missed_share_threshold(documents, 0.4) == 2
    assert missed_share_threshold(documents, 0.2) == 1


def test_bound_holds_at_the_threshold_and_fails_above():
    """n/(n+1) R(t) + 1/(n+1) <= alpha at the threshold, and not at the next higher logit."""
    draw = np.random.default_rng(0)
    documents = [list(draw.normal(size=draw.integers(1, 5))) for _ in range(60)]
    n, alpha = len(documents), 0.15
    threshold = missed_share_threshold(true_labels(documents), alpha)

    def bound(t: float) -> float:
        risk = np.mean([np.mean(np.array(logits) < t) for logits in documents])
        return n / (n + 1) * risk + 1 / (n + 1)

    assert bound(threshold) <= alpha < bound(np.nextafter(threshold, np.inf))


def test_equal_logits_are_missed_together():
    """Three documents at logit 1 and one at 2; alpha = 0.5 allows 1.5, but t = 2 would miss 3."""
    assert missed_share_threshold(true_labels([[1], [1], [1], [2]]), 0.5) == 1


def test_too_few_documents_miss_nothing():
    """n = 3 and alpha = 0.1: alpha (n + 1) - 1 < 0, so no held-out label is missed."""
    assert missed_share_threshold(true_labels([[5], [4], [6]]), 0.1) == 4


def test_a_rate_of_one_gives_no_label():
    assert missed_share_threshold(true_labels([[5], [4]]), 1.0) == np.inf


@pytest.mark.parametrize(("n", "alpha"), [(30, 0.1), (200, 0.1), (200, 0.05)])
def test_promise_is_kept_on_average_over_draws(n: int, alpha: float):
    """New draws of n held-out documents and of test documents: the mean L lies between alpha - 2/(n+1) and alpha.

    Labels are of unequal difficulty, and hard ones come in larger sets, so nothing about L is uniform.
    """
    draw = np.random.default_rng(1)

    def documents(count: int) -> TrueLabels:
        sizes = draw.choice([1, 1, 1, 2, 4], size=count)
        owner = np.repeat(np.arange(count), sizes)
        spread = draw.choice([0.5, 2.0], size=count)
        logits = draw.normal(loc=3.0 - 0.5 * sizes[owner], scale=spread[owner])
        return TrueLabels(logits, np.zeros_like(owner), owner)

    repeats, losses = 400, []
    for _ in range(repeats):
        threshold = missed_share_threshold(documents(n), alpha)
        new = documents(100)
        missed = np.bincount(new.documents, weights=new.logits < threshold) / np.bincount(new.documents)
        losses.append(missed.mean())
    error = 3 * np.std(losses) / np.sqrt(repeats)
    assert alpha - 2 / (n + 1) - error <= np.mean(losses) <= alpha + error


def test_the_highest_logit_can_be_the_threshold():
    """Two documents with logits 1 and 2, α = 0.8: 0.8 · 3 − 1 = 1.4, so the label at 1 may be missed."""
    true = TrueLabels(np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 1]))
    assert missed_share_threshold(true, 0.8) == 2.0
