"""Open-set figures by hand, against scikit-learn, and against a bootstrap over texts."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from masker.errors import ConfigError, DataError
from masker.metrics import f1_known, f1_unknown, open_accuracy, open_f1, open_set_report

# Two known classes; 2 is the unknown. Six known texts, four unknown ones.
TRUE = [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]
PREDICTED = [0, 0, 2, 1, 0, 2, 2, 2, 2, 1]


def test_worked_by_hand():
    """Right: two of class 0, one of class 1, three unknown ones: 6 of 10.

    2 TP / (true + predicted): class 0 4 / (3 + 3) = 2/3, class 1 2 / (3 + 2) = 2/5, the unknown 6 / (4 + 5) = 2/3.
    Known classes (2/3 + 2/5) / 2 = 8/15; all three (2/3 + 2/5 + 2/3) / 3 = 26/45.
    """
    assert open_accuracy(TRUE, PREDICTED, 2) == pytest.approx(6 / 10)
    assert f1_known(TRUE, PREDICTED, 2) == pytest.approx(8 / 15)
    assert f1_unknown(TRUE, PREDICTED, 2) == pytest.approx(2 / 3)
    assert open_f1(TRUE, PREDICTED, 2) == pytest.approx(26 / 45)
    report = open_set_report(TRUE, PREDICTED, 2, resamples=20)
    assert {name: figure.value for name, figure in report.items()} == pytest.approx(
        {"accuracy": 6 / 10, "macro_f1": 26 / 45, "f1_known": 8 / 15, "f1_unknown": 2 / 3}
    )


def test_a_class_that_does_not_occur_is_left_out():
    """Class 1 of three known ones is nowhere. Class 0: 2 / 2 = 1; class 2 is only predicted: 0; the unknown: 2 / 3."""
    assert f1_known([0, 3, 3], [0, 3, 2], 3) == pytest.approx(1 / 2)
    assert open_f1([0, 3, 3], [0, 3, 2], 3) == pytest.approx((1 + 0 + 2 / 3) / 3)
    assert f1_unknown([0], [0], 3) == 0.0


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40))
@settings(max_examples=80, deadline=None)
def test_agrees_with_scikit_learn(rows):
    true, predicted = (list(column) for column in zip(*rows, strict=True))
    present = sorted({*true, *predicted})
    by_class = dict(zip(present, f1_score(true, predicted, labels=present, average=None, zero_division=0), strict=True))
    known = [score for label, score in by_class.items() if label < 4]
    assert open_accuracy(true, predicted, 4) == pytest.approx(accuracy_score(true, predicted))
    assert open_f1(true, predicted, 4) == pytest.approx(np.mean(list(by_class.values())))
    assert f1_known(true, predicted, 4) == pytest.approx(np.mean(known) if known else 0.0)
    assert f1_unknown(true, predicted, 4) == pytest.approx(by_class.get(4, 0.0))


def test_intervals_agree_with_a_bootstrap_over_texts():
    """The counts of resampled texts are multinomial. Here texts themselves are resampled, each part on its own."""
    draw = np.random.default_rng(0)
    true = np.sort(draw.integers(0, 4, size=400))
    predicted = np.where(draw.random(400) < 0.7, true, draw.integers(0, 4, size=400))
    inside = int((true < 3).sum())

    generator = np.random.default_rng(1)
    samples = []
    for _ in range(2000):
        rows = np.concatenate([
            generator.integers(0, inside, size=inside), inside + generator.integers(0, 400 - inside, size=400 - inside)
        ])  # fmt: skip
        samples.append(open_f1(true[rows], predicted[rows], 3))
    figure = open_set_report(true, predicted, 3, resamples=2000)["macro_f1"]
    assert [figure.low, figure.high] == pytest.approx(list(np.quantile(samples, [0.025, 0.975])), abs=0.006)
    assert figure.low < figure.value < figure.high


def test_perfect_decisions_have_no_spread_and_the_seed_fixes_the_rest():
    for figure in open_set_report([0, 1, 2], [0, 1, 2], 2, resamples=30).values():
        assert figure.value == figure.high == 1.0
    one, again, other = (open_set_report(TRUE, PREDICTED, 2, resamples=30, seed=seed) for seed in (1, 1, 2))
    assert one == again != other
    plain = open_set_report(TRUE, PREDICTED, 2, resamples=30)
    assert plain == open_set_report(TRUE, PREDICTED, 2, resamples=30, seed=0)


def test_fast_with_many_classes_and_texts():
    """150 classes, 10,000 texts, 1,000 resamples: a quarter of a second; a loop over texts would take a minute."""
    draw = np.random.default_rng(0)
    true = draw.integers(0, 151, size=10_000)
    predicted = np.where(draw.random(10_000) < 0.8, true, draw.integers(0, 151, size=10_000))
    start = time.perf_counter()
    open_set_report(true, predicted, 150)
    assert time.perf_counter() - start < 10


def test_refuses_labels_outside_the_classes_and_uneven_columns():
    with pytest.raises(DataError, match="predicted labels must lie between 0 and 2, the unknown; received 3"):
        open_accuracy([0, 1, 1], [0, 3, 4], 2)
    with pytest.raises(DataError, match="true labels must lie between 0 and 2, the unknown; received -1"):
        open_set_report([-1, 1], [0, 0], 2)
    with pytest.raises(DataError, match="one entry per row"):
        open_f1([0, 1], [0], 2)
    with pytest.raises(DataError, match="at least one row"):
        f1_known([], [], 2)
    with pytest.raises(ConfigError, match="resamples"):
        open_set_report(TRUE, PREDICTED, 2, resamples=0)


def test_known_and_unknown_texts_are_drawn_to_their_own_numbers():
    """Two known texts, always right, and two unknown, never noticed: half of every resample is right."""
    figure = open_set_report([0, 0, 2, 2], [0, 0, 0, 0], 2, resamples=50)["accuracy"]
    assert (figure.low, figure.high) == (0.5, 0.5)
