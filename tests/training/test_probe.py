"""The logistic regression behind a head, against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit, log_softmax, softmax
from sklearn.linear_model import LogisticRegression, Ridge

from masker.training import probe as module
from masker.training.probe import (
    LinearMap,
    choose_strength,
    cross_entropy,
    fit_probe,
    label_entropy,
    out_of_fold_logits,
)

DRAW = np.random.default_rng(0)
LABELS = np.arange(60) % 3
X = 0.5 * np.eye(4)[LABELS] + 0.3 * DRAW.normal(size=(60, 4))


def assert_linear(probe: LinearMap, weight, bias) -> None:
    np.testing.assert_allclose(probe.weight, weight, atol=1e-6)
    np.testing.assert_allclose(probe.bias, bias, atol=1e-6)


@pytest.mark.parametrize("strength", [1.0, 10.0])
@pytest.mark.parametrize("balanced", [False, True])
def test_weights_are_those_of_scikit_learn(strength, balanced):
    labels = np.where(np.arange(60) < 40, 0, LABELS)
    model = LogisticRegression(C=strength, max_iter=1000, class_weight="balanced" if balanced else None)
    model.fit(X, labels)
    assert_linear(fit_probe(X, labels, 3, strength=strength, balanced=balanced), model.coef_, model.intercept_)


def test_sparse_vectors_give_the_same():
    dense, sparse = fit_probe(X, LABELS, 3), fit_probe(csr_array(X), LABELS, 3)
    np.testing.assert_allclose(sparse.weight, dense.weight, atol=1e-3)
    np.testing.assert_allclose(sparse(csr_array(X)), dense(X), atol=1e-3)


def test_with_two_classes_both_have_a_logit():
    """One logit z becomes (-z/2, z/2): the same probabilities, and what lies at the border has no high logit."""
    labels = LABELS % 2
    probe = fit_probe(X, labels, 2)
    expected = LogisticRegression(C=module.STRENGTH, max_iter=1000).fit(X, labels).predict_proba(X)
    np.testing.assert_allclose(softmax(probe(X), axis=1), expected, rtol=1e-5)
    np.testing.assert_allclose(probe(X)[:, 0], -probe(X)[:, 1])


def test_one_against_the_rest():
    probe = fit_probe(X, LABELS, 3, head="one-vs-rest")
    for label in range(3):
        alone = LogisticRegression(C=module.STRENGTH, max_iter=1000, tol=module.REST_TOLERANCE).fit(X, label == LABELS)
        np.testing.assert_allclose(expit(probe(X)[:, label]), alone.predict_proba(X)[:, 1], rtol=1e-5)


def test_a_regression_is_a_ridge():
    values = X @ np.array([1.0, -2.0, 0.5, 0.0]) + 0.1 * DRAW.normal(size=60)
    ridge = Ridge(alpha=1.0 / module.STRENGTH).fit(X, values)
    assert_linear(fit_probe(X, values, 0, head="regression"), ridge.coef_[None], [ridge.intercept_])


@pytest.mark.parametrize("head", ["multi-class", "one-vs-rest"])
@pytest.mark.parametrize("kept", [(0, 2), (0, 2, 3)])
def test_a_class_without_documents_is_never_the_answer(head, kept):
    """Class 1 of four, and class 3 in the first case, have no document: those of the others stay as they are."""
    rows = LABELS != 1
    labels = LABELS[rows].copy()
    if 3 in kept:
        labels[:10] = 3
    probe = fit_probe(X[rows], labels, 4, head=head)
    assert probe.weight.shape == (4, 4) and set(np.unique(probe(X[rows]).argmax(axis=1))) <= set(kept)
    for label in set(range(4)) - set(kept):
        assert not probe.weight[label].any() and probe.bias[label] == -10.0
    if head == "multi-class" and len(kept) == 3:
        model = LogisticRegression(C=module.STRENGTH, max_iter=1000).fit(X[rows], labels)
        np.testing.assert_allclose(probe.weight[list(kept)], model.coef_, atol=1e-6)


@pytest.mark.parametrize("head", ["multi-class", "one-vs-rest"])
def test_one_class_alone(head):
    probe = fit_probe(X[:5], np.ones(5, dtype=np.int64), 3, head=head)
    assert probe(X[:2]).tolist() == [[-10.0, 0.0, -10.0]] * 2


def test_logits_of_a_fold_come_from_a_regression_that_never_saw_it(monkeypatch):
    """A probe that returns the numbers of its training rows: those of the fold are not among them."""
    folds = np.arange(60) % 4
    seen = []

    def fit(vectors, labels, n_classes, **options):
        assert options == {"strength": 3.0}
        seen.append(vectors[:, 0])
        return LinearMap(np.full((3, 1), len(seen)), np.zeros(3))

    monkeypatch.setattr(module, "fit_probe", fit)
    numbers = np.arange(60.0)[:, None]
    logits = out_of_fold_logits(numbers, LABELS, 3, folds, strength=3.0)
    for fold, rows in enumerate(seen):
        assert sorted(rows) == sorted(numbers[folds != fold, 0])
    np.testing.assert_array_equal(logits, np.repeat(numbers * (folds + 1)[:, None], 3, axis=1))


def test_out_of_fold_logits_are_those_of_the_other_folds():
    folds = np.arange(60) % 5
    logits = out_of_fold_logits(X, LABELS, 3, folds)
    np.testing.assert_allclose(logits[folds == 2], fit_probe(X[folds != 2], LABELS[folds != 2], 3)(X[folds == 2]))


def test_cross_entropy_against_scipy():
    logits = DRAW.normal(size=(60, 3)) * 50
    expected = -log_softmax(logits, axis=1)[np.arange(60), LABELS].mean()
    assert cross_entropy(logits, LABELS) == pytest.approx(expected)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_strength_follows_the_data():
    """Classes without overlap allow a strong fit, labels without meaning only a weak one."""
    folds = np.arange(60) // 3 % 5
    separable = unit(np.eye(4)[LABELS] + 0.05 * DRAW.normal(size=(60, 4)))
    noise = unit(DRAW.normal(size=(60, 30)))
    assert choose_strength(separable, LABELS, 3, folds) == max(module.STRENGTHS)
    assert choose_strength(noise, LABELS, 3, folds) == min(module.STRENGTHS)


def test_strength_of_one_fold_cannot_be_chosen():
    assert choose_strength(X, LABELS, 3, np.zeros(60, dtype=np.int64)) == module.STRENGTH


def test_strength_is_chosen_on_a_sample_of_all_classes(monkeypatch):
    """Rows sorted by class: the first ones alone are of one class, which any strength fits."""
    monkeypatch.setattr(module, "CHOOSING_DOCUMENTS", 20)
    asked = []

    def record(vectors, labels, *args, **options):
        asked.append(set(labels.tolist()))
        return np.zeros((len(labels), 3))

    monkeypatch.setattr(module, "out_of_fold_logits", record)
    choose_strength(X, np.sort(LABELS), 3, np.arange(60) % 5)
    assert asked == [{0, 1, 2}] * len(module.STRENGTHS)


def test_several_labels_are_fitted_one_by_one():
    """Each against all documents without it; a label that no document has is far down, one that all have far up."""
    flags = np.stack([LABELS == 0, LABELS != 1, np.zeros(60), np.ones(60)], axis=1).astype(np.int8)
    probe = fit_probe(X, flags, 4, head="multi-label")
    for label in (0, 1):
        model = LogisticRegression(C=module.STRENGTH, max_iter=1000, tol=module.REST_TOLERANCE).fit(X, flags[:, label])
        np.testing.assert_allclose(probe.weight[label], model.coef_[0], atol=1e-6)
        np.testing.assert_allclose(probe.bias[label], model.intercept_[0], atol=1e-6)
    assert probe.bias[2:].tolist() == [-10.0, 10.0]
    assert not probe.weight[2:].any()


def test_cross_entropy_of_several_labels_by_hand():
    """Logits (log 3, 0), labels {0} and {0, 1}: log(4/3) + log 2 in both, as sigmoid(0) is a half either way."""
    logits = np.array([[np.log(3), 0.0], [np.log(3), 0.0]])
    assert cross_entropy(logits, np.array([[1, 0], [1, 1]])) == pytest.approx(np.log(8 / 3))
    assert cross_entropy(logits[:1], np.array([[0, 1]])) == pytest.approx(np.log(8))


def test_many_classes_are_fitted_too():
    """Each of 700 classes has one document with entries of ±1/16, so no entry of the first gradient is above 1/11,200.

    That is below the tolerance for few classes, at which the fit would end before its first step.
    """
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(700, 256))
    labels = np.arange(700)
    assert module.TOLERANCE > 1 / 16 / 700
    assert np.array_equal(fit_probe(signs / 16, labels, 700)(signs / 16).argmax(axis=1), labels)


@pytest.mark.parametrize("head", ["one-vs-rest", "multi-label"])
def test_a_rare_class_is_told_from_the_rest(head):
    """One of 2,000 documents has the class, and each entry of it 1/10: the first step leaves gradients of 1/20,000."""
    vectors = np.random.default_rng(0).choice([-0.1, 0.1], size=(2000, 100))
    rare = np.arange(2000) == 7
    labels = np.stack([rare, ~rare], axis=1) if head == "multi-label" else (~rare).astype(np.int64)
    logits = fit_probe(vectors, labels, 2, head=head)(vectors)
    exact = LogisticRegression(C=module.STRENGTH, max_iter=10_000, tol=1e-10).fit(vectors, rare)
    np.testing.assert_allclose(logits[:, 0], exact.decision_function(vectors), atol=0.02)


def test_label_entropy_by_hand():
    """Classes of 3 and 1: H(1/4). Labels that 2 and 0 of 4 documents have: log 2, and nothing."""
    quarter = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    assert label_entropy(np.array([0, 0, 1, 0])) == pytest.approx(quarter)
    assert label_entropy(np.array([[1, 0], [1, 0], [0, 0], [0, 0]])) == pytest.approx(np.log(2))
