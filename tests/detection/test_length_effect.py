"""What is usual for a length: by hand, against a regression with invented documents, and what it does to a score."""

import math

import numpy as np
import pytest

from masker.detection.length_effect import LengthEffect
from masker.detection.network_scores import make_score
from masker.detection.statistics import Known, gather
from masker.inference.outputs import Outputs


def test_by_hand():
    """Ten documents of 4 tokens with e = log 4 and ten of 16 with e = -log 4; 8 tokens are the centre.

    The sums are -20 · log 2 · log 4 and (20 + 10) log² 2, so the slope is -4/3. g is 2^(4/3) at 4 tokens and 2^(-4/3)
    at 16, and goes no further.
    """
    lengths = np.repeat([4, 16], 10)
    effect = LengthEffect.fit(lengths, np.repeat([math.log(4.0), -math.log(4.0)], 10))
    assert effect.slope == pytest.approx(-4 / 3)
    assert (effect.low, effect.high) == (4.0, 16.0)
    np.testing.assert_allclose(
        effect(np.array([1, 4, 8, 16, 500])), 2.0 ** np.array([4 / 3, 4 / 3, 0.0, -4 / 3, -4 / 3])
    )


def test_invented_documents_are_part_of_a_regression():
    """The same slope as by least squares through the origin, with five documents at ±log 2 that have e = 0."""
    draw = np.random.default_rng(3)
    lengths = draw.integers(5, 200, size=50)
    sizes = 1.5 - 0.4 * np.log(lengths) + draw.normal(size=50) / 10
    effect = LengthEffect.fit(lengths, sizes)
    logs = np.log(np.clip(lengths, *np.quantile(lengths, [0.01, 0.99])))
    x = np.concatenate([logs - logs.mean(), np.tile([math.log(2.0), -math.log(2.0)], 5)])
    y = np.concatenate([sizes, np.zeros(10)])
    assert effect.slope == pytest.approx(np.linalg.lstsq(x[:, None], y, rcond=None)[0][0])


@pytest.mark.parametrize("sizes", [[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]])
def test_long_texts_are_never_expected_further_away(sizes):
    effect = LengthEffect.fit(np.array([2, 20, 200]), np.array(sizes))
    np.testing.assert_array_equal(effect(np.array([1, 50, 1000])), [1.0, 1.0, 1.0])


def test_equal_lengths_and_empty_texts_have_no_effect():
    effect = LengthEffect.fit(np.full(5, 8), np.arange(5.0))
    np.testing.assert_array_equal(effect(np.array([0, 8, 100])), [1.0, 1.0, 1.0])
    assert np.isfinite(LengthEffect.fit(np.array([0, 0, 3]), np.array([2.0, 1.0, 0.0]))(np.array([0, 3]))).all()


def averages(lengths, seed, shift=0.0):
    """Vectors that are means of that many tokens around one of two class centres."""
    draw = np.random.default_rng(seed)
    labels = np.arange(len(lengths)) % 2
    centres = np.array([[3.0] + [0.0] * 7, [-3.0] + [0.0] * 7])
    rows = centres[labels] + shift + draw.normal(size=(len(lengths), 8)) * 4.0 / np.sqrt(lengths)[:, None]
    logits = np.zeros((len(lengths), 2), dtype=np.float32)
    return Outputs(logits, {"cls": rows.astype(np.float32)}, np.asarray(lengths)), labels


def test_a_long_foreign_text_is_strange_to_a_model_of_short_ones():
    """Phrases of 3 to 40 words; texts of 40 words somewhere else lie nearer to a class than many phrases do."""
    draw = np.random.default_rng(0)
    train, labels = averages(draw.integers(3, 40, size=400), 1)
    foreign, _ = averages(np.full(50, 40), 2, shift=1.0)
    held_out, _ = averages(draw.integers(3, 40, size=200), 4)
    known = gather([train], labels, 2, ["cls"], 400, 0)
    share = {}
    for name, statistics in (("length", known), ("none", Known(**{**vars(known), "bank_lengths": None}))):
        score = make_score("scaled-mahalanobis", statistics, "one-vs-rest", None)
        share[name] = (score.ood_score(foreign) > np.quantile(score.ood_score(held_out), 0.95)).mean()
    assert share["length"] > 0.9 > 0.2 > share["none"]


def test_lengths_are_kept_with_the_bank():
    train, labels = averages(np.arange(4, 44), 1)
    known = gather([train], labels, 2, ["cls"], 10, 0)
    again = Known.from_arrays(known.to_arrays())
    rows = [int(np.flatnonzero((train.features["cls"] == row).all(axis=1))[0]) for row in known.bank["cls"]]
    np.testing.assert_array_equal(again.bank_lengths, np.arange(4, 44)[rows])
    np.testing.assert_array_equal(known.without(0, ["cls"]).bank_lengths, known.bank_lengths[known.bank_labels == 1])
