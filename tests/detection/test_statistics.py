"""Training statistics against numpy: in one pass or several, balanced over classes."""

import numpy as np

from masker.detection.statistics import Statistics, bank_rows, gather_statistics
from masker.inference.outputs import Outputs

DRAW = np.random.default_rng(0)
LABELS = np.arange(60) % 3
LOGITS = (4.0 * np.eye(3)[LABELS] + DRAW.normal(size=(60, 3))).astype(np.float32)
FEATURES = (np.eye(3)[LABELS] + 0.1 * DRAW.normal(size=(60, 3))).astype(np.float32)
KINDS = ("cls", "middle")
TRAIN = Outputs(LOGITS, dict.fromkeys(KINDS, FEATURES))


def gathered(stream=(TRAIN,), bank=1000) -> Statistics:
    return gather_statistics(stream, LABELS, 3, KINDS, bank, 0)


def test_a_stream_in_parts_gives_the_same_as_the_whole():
    parts = [
        Outputs(LOGITS[rows], {kind: TRAIN.features[kind][rows] for kind in KINDS})
        for rows in (slice(0, 7), slice(7, 8), slice(8, 60))
    ]
    whole, streamed = gathered(), gathered(parts)
    np.testing.assert_array_equal(streamed.bank["cls"], whole.bank["cls"])
    np.testing.assert_allclose(streamed.moments["cls"].within, whole.moments["cls"].within, rtol=1e-5)


def test_moments_against_numpy():
    moments, rows = gathered().moments["middle"], FEATURES.astype(np.float64)
    means = np.stack([rows[label == LABELS].mean(axis=0) for label in range(3)])
    np.testing.assert_allclose(moments.means, means, rtol=1e-6)
    np.testing.assert_allclose(moments.covariance_within, np.cov((rows - means[LABELS]).T, bias=True), atol=1e-7)
    np.testing.assert_allclose(moments.covariance, np.cov(rows.T, bias=True), atol=1e-7)


def test_classes_share_the_bank():
    """Ten of class 0, two of class 1, one of class 2; a bank of five: 2 + 2 + 1."""
    labels = np.array([0] * 10 + [1] * 2 + [2])
    kept = labels[bank_rows(labels, 5, 0)]
    assert np.bincount(kept).tolist() == [2, 2, 1]


def test_arrays_round_trip():
    first = gathered()
    again = Statistics.from_arrays(first.to_arrays())
    assert set(again.moments) == set(KINDS)
    for name, array in first.to_arrays().items():
        np.testing.assert_array_equal(again.to_arrays()[name], array)


def test_lengths_are_kept_with_the_bank():
    rows = DRAW.normal(size=(40, 8)).astype(np.float32)
    train = Outputs(np.zeros((40, 2), dtype=np.float32), {"cls": rows}, np.arange(4, 44))
    statistics = gather_statistics([train], np.arange(40) % 2, 2, ["cls"], 10, 0)
    again = Statistics.from_arrays(statistics.to_arrays())
    places = [int(np.flatnonzero((rows == row).all(axis=1))[0]) for row in statistics.bank["cls"]]
    np.testing.assert_array_equal(again.bank_lengths, np.arange(4, 44)[places])
