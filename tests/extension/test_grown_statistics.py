"""Statistics in two parts are those of the whole."""

from __future__ import annotations

import numpy as np

from masker.detection.statistics import Moments, gather_statistics
from masker.extension.grown_statistics import grown_statistics, joined_moments
from masker.inference.outputs import Outputs


def test_moments_by_hand():
    """One class on a line: 0 and 2, then 4. Means 1 and 4; S is 2, 0, and together 2 + (2·1/3)·9 = 8."""
    first = Moments(np.array([2.0]), np.array([[1.0]]), np.array([[2.0]]))
    second = Moments(np.array([1.0]), np.array([[4.0]]), np.array([[0.0]]))
    joined = joined_moments(first, second)
    assert (joined.counts[0], joined.means[0, 0], joined.within[0, 0]) == (3, 2, 8)


def test_the_same_as_gathered_at_once():
    draw = np.random.default_rng(0)
    rows = draw.standard_normal((40, 3)).astype(np.float32)
    labels = np.concatenate([np.arange(30) % 2, np.arange(10) % 3])
    logits, lengths = draw.standard_normal((40, 3)).astype(np.float32), np.arange(40)

    def outputs(part, columns=3):
        return Outputs(logits[part, :columns], {"cls": rows[part]}, lengths[part])

    before = gather_statistics([outputs(slice(30), 2)], labels[:30], 2, ("cls",), 100, 0)
    grown = grown_statistics(before, outputs(slice(30, 40)), labels[30:], logits[:30], 100)
    whole = gather_statistics([outputs(slice(40))], labels, 3, ("cls",), 100, 0)
    for part in ("counts", "means", "within"):
        np.testing.assert_allclose(getattr(grown.moments["cls"], part), getattr(whole.moments["cls"], part), rtol=1e-5)
    np.testing.assert_array_equal(grown.bank["cls"], whole.bank["cls"])
    np.testing.assert_array_equal(grown.bank_logits, whole.bank_logits)
    np.testing.assert_array_equal(grown.bank_labels, whole.bank_labels)
    np.testing.assert_array_equal(grown.bank_lengths, whole.bank_lengths)
