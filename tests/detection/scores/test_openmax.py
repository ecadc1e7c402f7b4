"""OpenMax: revised activations and Weibull tails, by hand."""

import math

import numpy as np
import pytest
from scipy.stats import weibull_min

from masker.config import build_settings
from masker.detection.scores.openmax import (
    OpenMaxScore,
    OpenMaxStatistics,
    activation_distances,
    fit_openmax,
    fit_weibull_tail,
    openmax_probabilities,
)
from masker.inference.outputs import Outputs
from masker.registry import SCORES

# F_i(d) = 1 − 2^−d: shape 1, scale 1/log 2, and tails that start at 1, so that distances are not shifted.
HALVING = {"shape": np.ones(3), "scale": np.full(3, 1 / math.log(2)), "tail_start": np.ones(3)}
V = np.array([[5.0, 3.0, 1.0]])
KNOWN = OpenMaxStatistics(np.array([[5.0, 3.0, 0.0], [5.0, 1.0, 1.0], [5.0, 3.0, 4.0]]), **HALVING)


def probabilities(alpha, known=KNOWN, v=V):
    return openmax_probabilities(v, known, alpha=alpha, distance="euclidean")[0]


def test_revision_by_hand():
    """v = (5, 3, 1) lies at distances 1, 2, 3: F = (1/2, 3/4, 7/8). α = 2.

    Rank weights 1, 1/2, 0, so 1 − ω = (1/2, 3/8, 0). Revised: (2.5, 1.875, 1); unknown: 2.5 + 1.125 = 3.625.
    """
    exponentials = np.exp([3.625, 2.5, 1.875, 1.0])
    np.testing.assert_allclose(probabilities(2), exponentials / exponentials.sum())


def test_alpha_one_revises_the_best_class_only():
    """1 − ω = (1/2, 0, 0): revised (2.5, 3, 1), unknown 2.5."""
    exponentials = np.exp([2.5, 2.5, 3.0, 1.0])
    np.testing.assert_allclose(probabilities(1), exponentials / exponentials.sum())


def test_alpha_is_at_most_the_number_of_classes():
    np.testing.assert_allclose(probabilities(10), probabilities(3))


def test_far_from_its_mean_is_unknown_and_at_its_mean_is_known():
    means = np.array([[9.0, 0.0, 0.0], [0.0, 9.0, 0.0], [0.0, 0.0, 9.0]])
    known = OpenMaxStatistics(means, np.full(3, 8.0), np.full(3, 2.0), np.full(3, 3.0))
    unknown = openmax_probabilities(
        np.array([[9.0, 0.0, 0.0], [30.0, 0.0, 0.0]]), known, alpha=3, distance="euclidean"
    )[:, 0]
    assert unknown[0] < 0.01
    assert unknown[1] > 0.99


def test_rows_are_distributions():
    logits = np.random.default_rng(0).normal(size=(20, 3))
    rows = openmax_probabilities(logits, KNOWN, alpha=3, distance="euclidean-cosine")
    assert rows.shape == (20, 4)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)


def test_means_are_those_of_correctly_classified_documents():
    """Class 0: (4, 0) and (2, 0) are correct, (0, 9) is not: mean (3, 0). Of class 1 none is correct: all count."""
    logits = np.array([[4.0, 0.0], [2.0, 0.0], [0.0, 9.0], [3.0, 1.0], [5.0, 3.0]])
    known = fit_openmax(logits, np.array([0, 0, 0, 1, 1]), tail=20, distance="euclidean")
    np.testing.assert_allclose(known.means, [[3.0, 0.0], [4.0, 2.0]])


def test_weibull_fit_is_the_maximum_of_the_likelihood():
    """With location 0 the maximum has scale^k = mean(x^k) and sum(x^k log x) / sum(x^k) − 1/k = mean(log x)."""
    distances = np.random.default_rng(0).gamma(3.0, size=200)
    shape, scale, start = fit_weibull_tail(distances, 20)
    tail = np.sort(distances)[-20:]
    assert start == tail[0]
    x = tail - start + 1.0
    assert scale**shape == pytest.approx(np.mean(x**shape), rel=1e-3)
    assert np.sum(x**shape * np.log(x)) / np.sum(x**shape) - 1 / shape == pytest.approx(np.mean(np.log(x)), rel=1e-3)


def test_weibull_fits_at_most_half_of_the_distances():
    distances = weibull_min.rvs(2.0, scale=3.0, size=40, random_state=0)
    assert fit_weibull_tail(distances, 40) == fit_weibull_tail(distances, 20)
    assert fit_weibull_tail(distances, 40)[2] == np.sort(distances)[20]


def test_classes_too_small_for_a_tail_use_that_of_all():
    """Class 1 has one document, at distance 0 from its own mean: its tail is that of all distances, 0 included."""
    logits = np.array([[4.0, 0.0], [5.0, 0.0], [7.0, 0.0], [0.0, 4.0]])
    known = fit_openmax(logits, np.array([0, 0, 0, 1]), tail=20, distance="euclidean")
    own, everyone = np.array([4 / 3, 1 / 3, 5 / 3]), np.array([4 / 3, 1 / 3, 5 / 3, 0.0])
    for index, expected in enumerate((fit_weibull_tail(own, 20), fit_weibull_tail(everyone, 20))):
        assert (known.shape[index], known.scale[index], known.tail_start[index]) == pytest.approx(expected, rel=1e-3)


def test_without_any_tail_nothing_is_revised():
    """One document per class: no distance is unusual: the softmax, with activation 0 for the unknown class."""
    known = fit_openmax(np.array([[4.0, 0.0], [0.0, 4.0]]), np.array([0, 1]), tail=20, distance="euclidean")
    rows = openmax_probabilities(np.array([[3.0, 0.0]]), known, alpha=2, distance="euclidean")
    np.testing.assert_allclose(rows[0], np.exp([0.0, 3.0, 0.0]) / (2 + math.exp(3)))


def test_distances_by_hand():
    """(3, 4) and (3, 0): Euclidean 4; cosine 1 − 9/15 = 0.4; together 4/200 + 0.4 = 0.42."""
    v, mean = np.array([[3.0, 4.0]]), np.array([[3.0, 0.0]])
    assert activation_distances(v, mean, "euclidean")[0, 0] == pytest.approx(4.0)
    assert activation_distances(v, mean, "euclidean-cosine")[0, 0] == pytest.approx(0.42)


def test_distances_to_several_means_and_of_short_vectors_by_hand():
    """(3, 4) to (3, 0) and (4, 0): cosine 0.6 with both; Euclidean 4 and sqrt 17. A tenth of it all: 0.4 and 0.6.

    A zero vector has no direction: cosine distance 1.
    """
    means = np.array([[3.0, 0.0], [4.0, 0.0]])
    found = activation_distances(np.array([[3.0, 4.0], [0.0, 0.0]]), means, "euclidean-cosine")
    np.testing.assert_allclose(found, [[0.42, math.sqrt(17) / 200 + 0.4], [1 + 3 / 200, 1 + 4 / 200]])
    short = activation_distances(np.array([[0.3, 0.4]]), np.array([[0.3, 0.0]]), "euclidean-cosine")
    assert short[0, 0] == pytest.approx(0.402)


def test_a_tail_has_three_distances_at_least_and_some_spread():
    """Half of four are two, so the largest three, from 2; 0.5 is spread enough; equal distances have none."""
    assert fit_weibull_tail(np.array([1.0, 2.0, 4.0, 7.0]), 20)[2] == 2.0
    assert np.isfinite(fit_weibull_tail(np.array([1.0, 1.2, 1.5]), 20)[1])
    assert fit_weibull_tail(np.full(3, 2.0), 20) == (1.0, np.inf, 2.0)


def test_below_the_tail_by_hand():
    """Tails start at 2: the distances 1, 2, 3 move to 0, 1, 2, so F = (0, 1/2, 3/4); α = 2: 1 − ω = (0, 1/4, 0).

    Revised: (5, 2.25, 1); unknown: 0.75. Tails from 1.5 move the first to 0.5: 1 − ω = 1 − 2^−1/2.
    """
    later = OpenMaxStatistics(KNOWN.means, KNOWN.shape, KNOWN.scale, np.full(3, 2.0))
    exponentials = np.exp([0.75, 5.0, 2.25, 1.0])
    np.testing.assert_allclose(probabilities(2, later), exponentials / exponentials.sum())
    half = OpenMaxStatistics(KNOWN.means, KNOWN.shape, KNOWN.scale, np.full(3, 1.5))
    best = 5 * (1 - 2**-0.5)
    exponentials = np.exp([best, 5 - best, 3.0, 1.0])
    np.testing.assert_allclose(probabilities(1, half), exponentials / exponentials.sum())


def test_rows_do_not_depend_on_each_other():
    rows = np.array([[5.0, 3.0, 1.0], [1.0, 3.0, 5.0], [3.0, 5.0, 1.0]])
    together = openmax_probabilities(rows, KNOWN, alpha=2, distance="euclidean")
    np.testing.assert_allclose(together, [probabilities(2, v=row[None]) for row in rows])


def test_score_is_the_unknown_class_and_is_rebuilt_from_its_arrays():
    draw = np.random.default_rng(0)
    labels = np.arange(60) % 3
    outputs = Outputs(4.0 * np.eye(3)[labels] + draw.normal(size=(60, 3)))
    options = {"openmax_alpha": 2, "openmax_tail": 7, "openmax_distance": "euclidean"}
    settings = build_settings({"training": {"method": "openmax"}, "baselines": options})
    assert SCORES.get("openmax") is OpenMaxScore and OpenMaxScore.method_only
    score = OpenMaxScore.fit(outputs, labels, settings)
    known = fit_openmax(outputs.logits, labels, tail=7, distance="euclidean")
    expected = openmax_probabilities(outputs.logits, known, alpha=2, distance="euclidean")[:, 0]
    np.testing.assert_array_equal(score.ood_score(outputs), expected)
    np.testing.assert_array_equal(OpenMaxScore.from_state(score.state(), settings).ood_score(outputs), expected)
