"""New, or part of a class."""

from __future__ import annotations

import numpy as np

from masker.detection.statistics import Moments, Statistics
from masker.discovery.novelty import KnownClasses, halves_apart
from masker.discovery.text_space import TextSpace


def known(bank, labels):
    count = len(set(labels))
    moments = Moments(np.ones(count), np.zeros((count, bank.shape[1])), np.eye(bank.shape[1]))
    statistics = Statistics({"cls": moments}, {"cls": bank}, np.zeros((len(bank), count)), np.array(labels))
    return KnownClasses.of(statistics, TextSpace({"cls": np.zeros(bank.shape[1])}))


def test_halves_by_hand():
    """Two pairs around (0.1, 0) and (0.9, 0): their means are 0.8 apart."""
    assert np.isclose(halves_apart(np.array([[0, 0], [0.2, 0], [0.8, 0], [1, 0]], dtype=np.float32)), 0.8)
    assert np.isnan(halves_apart(np.ones((5, 2), dtype=np.float32)))


def test_a_group_beyond_the_halves_is_new():
    draw = np.random.default_rng(0)
    bank = np.concatenate(
        [[1, 0, 0] + 0.2 * draw.standard_normal((40, 3)), [0, 1, 0] + 0.2 * draw.standard_normal((40, 3))]
    )
    classes = known(bank.astype(np.float32), [0] * 40 + [1] * 40)
    place, novelty = classes.nearest(classes.means[1] + [0.05, 0, 0])
    assert place == 1 and novelty < 1
    place, novelty = classes.nearest(np.array([0.1, 0.3, 0.9]))
    assert place == 1 and novelty > 1


def test_a_class_without_halves_has_the_usual_width():
    bank = np.array([[1, 0], [1, 0.1], [1, 0.4], [1, 0.5], [0, 1]], dtype=np.float32)
    classes = known(bank, [0, 0, 0, 0, 1])
    assert classes.widths[1] == classes.widths[0] > 0


def test_texts_with_none_of_the_labels_are_no_class():
    """A bank of several labels numbers such texts by C, here 2."""
    bank = np.eye(3, dtype=np.float32)[[0, 0, 1, 1, 2, 2]]
    moments = Moments(np.ones(2), np.zeros((2, 3)), np.eye(3))
    statistics = Statistics({"cls": moments}, {"cls": bank}, np.zeros((6, 2)), np.array([0, 0, 1, 1, 2, 2]))
    classes = KnownClasses.of(statistics, TextSpace({"cls": np.zeros(3)}))
    assert classes.places.tolist() == [0, 1] and classes.nearest(np.array([0.1, 0, 1.0]))[0] == 0
