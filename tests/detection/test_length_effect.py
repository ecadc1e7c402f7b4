"""The effect of length: by hand, and against a regression with prior documents."""

import math

import numpy as np
import pytest

from masker.detection.length_effect import LengthEffect


def test_by_hand():
    """Ten documents of 4 tokens with e = log 4 and ten of 16 with e = -log 4; 8 tokens are the centre.

    The sums are -20 · log 2 · log 4 and (20 + 10) log² 2, so the slope is -4/3. g is 2^(4/3) at 4 tokens and 2^(-4/3)
    at 16, and stays there beyond.
    """
    lengths = np.repeat([4, 16], 10)
    effect = LengthEffect.fit(lengths, np.repeat([math.log(4.0), -math.log(4.0)], 10))
    assert effect.slope == pytest.approx(-4 / 3)
    assert (effect.low, effect.high) == (4.0, 16.0)
    np.testing.assert_allclose(
        effect(np.array([1, 4, 8, 16, 500])), 2.0 ** np.array([4 / 3, 4 / 3, 0.0, -4 / 3, -4 / 3])
    )


def test_against_least_squares_with_prior_documents():
    """The slope of least squares through the origin, with five documents at each of ±log 2 that have e = 0."""
    draw = np.random.default_rng(3)
    lengths = draw.integers(5, 200, size=50)
    sizes = 1.5 - 0.4 * np.log(lengths) + draw.normal(size=50) / 10
    effect = LengthEffect.fit(lengths, sizes)
    logs = np.log(np.clip(lengths, *np.quantile(lengths, [0.01, 0.99])))
    x = np.concatenate([logs - logs.mean(), np.tile([math.log(2.0), -math.log(2.0)], 5)])
    y = np.concatenate([sizes, np.zeros(10)])
    assert effect.slope == pytest.approx(np.linalg.lstsq(x[:, None], y, rcond=None)[0][0])


@pytest.mark.parametrize("sizes", [[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]])
def test_long_texts_are_never_expected_farther_away(sizes):
    effect = LengthEffect.fit(np.array([2, 20, 200]), np.array(sizes))
    np.testing.assert_array_equal(effect(np.array([1, 50, 1000])), [1.0, 1.0, 1.0])


def test_equal_lengths_and_empty_texts_have_no_effect():
    effect = LengthEffect.fit(np.full(5, 8), np.arange(5.0))
    np.testing.assert_array_equal(effect(np.array([0, 8, 100])), [1.0, 1.0, 1.0])
    assert np.isfinite(LengthEffect.fit(np.array([0, 0, 3]), np.array([2.0, 1.0, 0.0]))(np.array([0, 3]))).all()
