"""The scaled Mahalanobis distance by hand, against a leave-one-out loop, and its correction for length."""

import numpy as np
import pytest

from masker.config import build_settings
from masker.detection.length_effect import LengthEffect
from masker.detection.score import build_score
from masker.detection.scores.mahalanobis import Gaussians, fit_gaussians
from masker.detection.scores.scaled_mahalanobis import (
    ScaledMahalanobisScore,
    class_spreads,
    own_sizes,
    scaled_mahalanobis_score,
)
from masker.detection.statistics import Statistics, gather_statistics
from masker.inference.outputs import Outputs

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(60, 6)) @ DRAW.normal(size=(6, 6))


def spreads_of(distances, labels, counts):
    return class_spreads(own_sizes(distances, labels, counts), labels, len(counts))


def test_by_hand():
    """Two documents a class, 2 and 1 away from their means, so 4 and 2 away from each other (squared 16 and 4).

    The median of all is 8; with two documents against ten, log r moves a sixth of the way to the class's own:
    r = 8 · 2^(1/6) and 8 · 2^(-1/6). A document at squared distances 16 and 8 has 2 · 2^(-1/6) and 2^(1/6).
    """
    distances = np.array([[4.0, 100.0], [4.0, 100.0], [100.0, 1.0], [100.0, 1.0]])
    spreads = spreads_of(distances, np.array([0, 0, 1, 1]), np.array([2.0, 2.0]))
    np.testing.assert_allclose(spreads, [8 * 2 ** (1 / 6), 8 * 2 ** (-1 / 6)])
    classes = Gaussians(np.eye(2), np.array([[4.0, 0.0], [0.0, np.sqrt(8.0)]]))
    assert scaled_mahalanobis_score(np.zeros((1, 2)), classes, spreads) == pytest.approx([2 ** (1 / 6)])
    halved = scaled_mahalanobis_score(np.zeros((1, 2)), classes, spreads, np.array([2.0]))
    assert halved == pytest.approx([2 ** (1 / 6) / 2])


def test_against_means_without_the_document():
    labels = np.arange(60) % 3
    classes = Gaussians(np.eye(X.shape[1]), np.array([X[labels == label].mean(axis=0) for label in range(3)]))
    own = []
    for row, label in enumerate(labels):
        others = X[(labels == label) & (np.arange(60) != row)]
        own.append(np.log(np.sum((X[row] - others.mean(axis=0)) ** 2)))
    own = np.array(own)
    expected = [(20 * np.median(own[labels == label]) + 10 * np.median(own)) / 30 for label in range(3)]
    spreads = spreads_of(classes.distances(X[:60]), labels, np.array([20.0, 20.0, 20.0]))
    np.testing.assert_allclose(np.log(spreads), expected)


def test_a_class_of_one_document_has_the_spread_of_all():
    distances = np.array([[0.0, 9.0], [9.0, 2.0], [9.0, 2.0]])
    spreads = spreads_of(distances, np.array([0, 1, 1]), np.array([1.0, 2.0]))
    np.testing.assert_allclose(spreads, [8.0, 8.0])
    np.testing.assert_array_equal(spreads_of(np.zeros((2, 2)), np.array([0, 1]), np.ones(2)), [1.0, 1.0])


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
    known = gather_statistics([train], labels, 2, ["cls"], 400, 0)
    share = {}
    for name, statistics in (("length", known), ("none", Statistics(**{**vars(known), "bank_lengths": None}))):
        score = ScaledMahalanobisScore(statistics)
        share[name] = (score.ood_score(foreign) > np.quantile(score.ood_score(held_out), 0.95)).mean()
    assert share["length"] > 0.9 > 0.2 > share["none"]


def test_sizes_that_are_not_defined():
    """Two documents a class: 4 · 2² = 16. A document alone has no other, one at its mean no logarithm."""
    distances = np.array([[4.0, 9.0], [9.0, 5.0], [0.0, 9.0]])
    with np.errstate(all="raise"):
        sizes = own_sizes(distances, np.array([0, 1, 0]), np.array([2.0, 1.0]))
    np.testing.assert_allclose(sizes, [np.log(16), np.nan, np.nan])


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize(("name", "kind"), [("scaled-mahalanobis", "cls"), ("scaled-mahalanobis-middle", "middle")])
def test_by_its_name_with_a_class_of_one_document_and_one_of_none(name, kind, counted):
    """Of five classes 0 has no document and 2 has one; the others differ in spread and length."""
    labels = np.array([1] * 20 + [2] + [3] * 20 + [4] * 19)
    rows = X * np.array([0.0, 1.0, 1.0, 9.0, 0.2])[labels][:, None] + 30 * labels[:, None]
    lengths = 3 + np.argsort(np.argsort(-np.linalg.norm(X, axis=1)))  # short texts lie farther out
    outputs = Outputs(
        np.zeros((60, 5), dtype=np.float32),
        {"cls": rows.astype(np.float32), "middle": rows[:, ::-1].astype(np.float32) ** 2},
        lengths if counted else None,
    )
    statistics = gather_statistics([outputs], labels, 5, ["cls", "middle"], 60, 0)
    moments = statistics.moments[kind]
    classes = fit_gaussians(moments.means[1:], moments.covariance_within, 60)
    sizes = own_sizes(classes.distances(statistics.bank[kind]), labels - 1, np.array([20.0, 1.0, 20.0, 19.0]))
    spreads = class_spreads(sizes, labels - 1, 4)
    assert np.isnan(sizes).sum() == 1
    usual = 1.0
    if counted:
        own = np.arange(60) != 20
        effect = LengthEffect.fit(lengths[own], (sizes - np.log(spreads[labels - 1]))[own])
        assert effect.slope < 0
        usual = effect(lengths)
    expected = scaled_mahalanobis_score(outputs.features[kind], classes, spreads, usual)
    found = build_score(name, statistics, build_settings({})).ood_score(outputs)
    np.testing.assert_allclose(found, expected)
