"""The views x~ and x^ for given draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from masker.masking.views import drop_tokens, mask_context, mask_keywords

MASK = 99
# [CLS] 7 8 7 9 [SEP] [PAD]; 7 is the keyword.
IDS = np.array([[1, 7, 8, 7, 9, 2, 0]])
KEYWORDS = np.array([[0, 1, 0, 1, 0, 0, 0]], dtype=bool)
CONTENT = np.array([[0, 1, 1, 1, 1, 0, 0]], dtype=bool)


def test_keyword_view_by_hand():
    """p = 0.5. The keywords have draws 0.49 (masked) and 0.5 (kept: masked means draw < p); other draws are ignored."""
    uniform = np.array([[0.0, 0.49, 0.0, 0.5, 0.0, 0.0, 0.0]])
    masked_ids, masked = mask_keywords(IDS, KEYWORDS, uniform, 0.5, MASK)
    np.testing.assert_array_equal(masked_ids, [[1, MASK, 8, 7, 9, 2, 0]])
    np.testing.assert_array_equal(masked, [[False, True, False, False, False, False, False]])


def test_context_view_by_hand():
    """q = 0.9. The context tokens 8 and 9 have draws 0.89 (masked) and 0.91 (kept).

    The keywords, [CLS], [SEP] and [PAD] have draws of 0 and stay.
    """
    uniform = np.array([[0.0, 0.0, 0.89, 0.0, 0.91, 0.0, 0.0]])
    masked_ids, masked = mask_context(IDS, KEYWORDS, CONTENT, uniform, 0.9, MASK)
    np.testing.assert_array_equal(masked_ids, [[1, 7, MASK, 7, 9, 2, 0]])
    np.testing.assert_array_equal(masked, [[False, False, True, False, False, False, False]])


@pytest.mark.parametrize("draw", [0.0, 0.5, np.nextafter(1.0, 0.0)])
def test_probabilities_zero_and_one(draw):
    """Draws lie in [0, 1), so probability 0 masks nothing and probability 1 masks every eligible position."""
    uniform = np.full(IDS.shape, draw)
    np.testing.assert_array_equal(mask_keywords(IDS, KEYWORDS, uniform, 0.0, MASK)[0], IDS)
    np.testing.assert_array_equal(mask_context(IDS, KEYWORDS, CONTENT, uniform, 0.0, MASK)[0], IDS)
    np.testing.assert_array_equal(mask_keywords(IDS, KEYWORDS, uniform, 1.0, MASK)[0], [[1, 99, 8, 99, 9, 2, 0]])
    np.testing.assert_array_equal(
        mask_context(IDS, KEYWORDS, CONTENT, uniform, 1.0, MASK)[0], [[1, 7, 99, 7, 99, 2, 0]]
    )


def test_inputs_are_left_alone():
    ids, uniform = IDS.copy(), np.zeros(IDS.shape)
    mask_keywords(ids, KEYWORDS, uniform, 1.0, MASK)
    mask_context(ids, KEYWORDS, CONTENT, uniform, 1.0, MASK)
    np.testing.assert_array_equal(ids, IDS)


@pytest.mark.parametrize("probability", [0.5, 0.9])
def test_rate_of_masked_positions(probability):
    """40,000 positions: the standard error of the share is at most 0.5 / 200 = 0.0025; 0.012 is more than 4 of them."""
    ids = np.full((200, 200), 7)
    everywhere, nowhere = np.ones(ids.shape, dtype=bool), np.zeros(ids.shape, dtype=bool)
    uniform = np.random.default_rng(0).random(ids.shape)
    assert mask_keywords(ids, everywhere, uniform, probability, MASK)[1].mean() == pytest.approx(probability, abs=0.012)
    masked = mask_context(ids, nowhere, everywhere, uniform, probability, MASK)[1]
    assert masked.mean() == pytest.approx(probability, abs=0.012)


SHAPE = (3, 8)
flags = hnp.arrays(np.bool_, SHAPE)


@given(
    ids=hnp.arrays(np.int64, SHAPE, elements=st.integers(0, 50)),
    keywords=flags,
    content=flags,
    uniform=hnp.arrays(np.float64, SHAPE, elements=st.floats(0.0, 1.0, exclude_max=True)),
    probability=st.floats(0.0, 1.0),
)
def test_views_change_exactly_what_they_may(ids, keywords, content, uniform, probability):
    keywords = keywords & content
    drawn = uniform < probability
    keyword_masked, masked = mask_keywords(ids, keywords, uniform, probability, MASK)
    np.testing.assert_array_equal(keyword_masked != ids, masked)  # 99 is not an id of x
    np.testing.assert_array_equal(masked, keywords & drawn)
    assert (keyword_masked[masked] == MASK).all()

    context_masked, masked = mask_context(ids, keywords, content, uniform, probability, MASK)
    np.testing.assert_array_equal(context_masked != ids, masked)
    np.testing.assert_array_equal(masked, content & ~keywords & drawn)
    np.testing.assert_array_equal(context_masked[keywords], ids[keywords])
    np.testing.assert_array_equal(context_masked[~content], ids[~content])


def test_dropped_context_by_hand():
    """Two rows of 6: dropped tokens and padding go, the rest closes up in order.

    Row 0: 1 7 8 7 9 2 without 8 and 9 is 1 7 7 2. Row 1: 1 5 2 and three padding tokens, nothing dropped, is 1 5 2.
    """
    ids = np.array([[1, 7, 8, 7, 9, 2], [1, 5, 2, 0, 0, 0]])
    types = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 0]])
    dropped = np.array([[0, 0, 1, 0, 1, 0], [0, 0, 0, 0, 0, 0]], dtype=bool)
    attention = np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0]])
    short = drop_tokens({"input_ids": ids, "token_type_ids": types}, dropped, attention)
    np.testing.assert_array_equal(short["attention_mask"], [[1, 1, 1, 1], [1, 1, 1, 0]])
    np.testing.assert_array_equal(short["input_ids"][0], [1, 7, 7, 2])
    np.testing.assert_array_equal(short["input_ids"][1][:3], [1, 5, 2])
    np.testing.assert_array_equal(short["token_type_ids"][0], [0, 0, 1, 1])
