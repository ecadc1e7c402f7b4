"""Reliance, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from masker.audit.reliance import Confidences, reliance, reliance_difference, reliance_intervals
from masker.errors import DataError

VIEWS = ("whole", "keywords_masked", "random_masked", "bare_keywords", "bare_random", "empty")


def views(**values) -> Confidences:
    return Confidences(**{name: np.array(values[name], dtype=np.float64) for name in VIEWS})


TWO = views(
    whole=[1.0, 0.8],
    keywords_masked=[0.4, 0.6],
    random_masked=[0.9, 0.7],
    bare_keywords=[0.8, 0.4],
    bare_random=[0.3, 0.3],
    empty=[0.2, 0.2],
)


def test_two_documents_by_hand():
    """Means: whole 0.9, keywords masked 0.5, random masked 0.8, bare keywords 0.6, bare random 0.3, empty 0.2.

    kept = (0.6 − 0.3) / (0.9 − 0.3) = 1/2; lost = (0.8 − 0.5) / (0.8 − 0.2) = 1/2; reliance = 1/2.
    The first document alone: kept = (0.8 − 0.3) / (1 − 0.3) = 5/7; lost = (0.9 − 0.4) / (0.9 − 0.2) = 5/7.
    The second alone: kept = (0.4 − 0.3) / (0.8 − 0.3) = 1/5; lost = (0.7 − 0.6) / (0.7 − 0.2) = 1/5.
    The first twice, the second once: whole 2.8/3, bare keywords 2/3, bare random 0.3, so kept = 1.1/1.9; random masked
    2.5/3, keywords masked 1.4/3, empty 0.2, so lost = 1.1/1.9.
    """
    found = reliance(TWO)
    assert (found.kept, found.lost, found.reliance) == pytest.approx((0.5, 0.5, 0.5))
    assert reliance(TWO, np.array([0])).reliance == pytest.approx(5 / 7)
    assert reliance(TWO, np.array([1])).reliance == pytest.approx(1 / 5)
    assert reliance(TWO, np.array([0, 0, 1])).reliance == pytest.approx(1.1 / 1.9)


def test_keywords_that_do_no_more_than_random_words_give_nothing():
    random = {"whole": [0.9], "random_masked": [0.7], "bare_random": [0.4], "empty": [0.2]}
    assert reliance(views(**random, keywords_masked=[0.7], bare_keywords=[0.4])).reliance == 0.0
    assert reliance(views(**random, keywords_masked=[0.8], bare_keywords=[0.3])).reliance == 0.0, "cut at 0"


def test_keywords_that_are_everything_give_one():
    found = reliance(
        views(
            whole=[0.9], keywords_masked=[0.3], random_masked=[0.9], bare_keywords=[0.9], bare_random=[0.3], empty=[0.3]
        )
    )
    assert found.reliance == 1.0
    beyond = views(
        whole=[0.9], keywords_masked=[0.1], random_masked=[0.9], bare_keywords=[0.95], bare_random=[0.3], empty=[0.3]
    )
    assert reliance(beyond).reliance == 1.0, "cut at 1"


def test_a_model_that_reads_nothing_relies_on_nothing():
    assert reliance(views(**{name: [0.7, 0.7] for name in VIEWS})).reliance == 0.0


def test_intervals_hold_the_value_and_are_the_same_for_the_same_seed():
    generator = np.random.default_rng(0)
    many = Confidences(*(generator.uniform(low, low + 0.3, 200) for low in (0.7, 0.3, 0.6, 0.5, 0.2, 0.1)))
    found = reliance_intervals(many, resamples=200)
    assert found.reliance.value == pytest.approx(reliance(many).reliance)
    assert found.reliance.low < found.reliance.value < found.reliance.high
    assert found == reliance_intervals(many, resamples=200)
    assert set(found.to_json()) == {"reliance", "kept", "lost"}


def test_a_paired_difference_is_narrower_than_its_parts():
    """Both models agree on which documents are hard, so most of the spread cancels out."""
    generator = np.random.default_rng(0)
    base = [generator.uniform(low, low + 0.3, 200) for low in (0.6, 0.3, 0.6, 0.5, 0.2, 0.1)]
    one = Confidences(*base)
    other = Confidences(*(base[0], base[1] + 0.1, *base[2:]))
    found = reliance_difference(one, other, resamples=200)
    assert found.reliance.value == pytest.approx(reliance(one).reliance - reliance(other).reliance)
    assert found.kept.value == found.kept.low == found.kept.high == 0.0
    alone = reliance_intervals(one, resamples=200).lost
    assert found.lost.high - found.lost.low < alone.high - alone.low
    with pytest.raises(DataError, match="same documents"):
        reliance_difference(one, TWO)
