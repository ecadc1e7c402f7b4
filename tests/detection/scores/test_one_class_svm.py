"""The one-class SVM, rebuilt from plain arrays, against scikit-learn."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDOneClassSVM
from sklearn.svm import OneClassSVM

from masker.config import build_settings
from masker.detection.scores import one_class_svm
from masker.detection.scores.one_class_svm import OneClassSvm, OneClassSvmScore, fit_one_class_svm
from masker.inference.outputs import Outputs
from masker.registry import SCORES

TRAIN = np.random.default_rng(0).normal(size=(60, 8))
TEST = np.concatenate([TRAIN[:5], np.random.default_rng(1).normal(size=(20, 8)), np.full((1, 8), 9.0)])
FIT = {"nu": 0.2, "gamma": 0.1, "components": 30, "seed": 3}


def as_form(matrix, form):
    return csr_array(matrix) if form == "sparse" else matrix.astype(np.float32 if form == "single" else np.float64)


def test_decision_by_hand():
    """Points (0) and (2), weights 1 and 2, intercept −1, γ = log 2: f(1) = 1/2 + 2/2 − 1, f(2) = 1/16 + 2 − 1."""
    machine = OneClassSvm(np.array([[0.0], [2.0]]), np.array([1.0, 2.0]), -1.0, math.log(2))
    assert machine.decision(np.array([[1.0], [2.0]])) == pytest.approx([0.5, 1.0625])


@pytest.mark.parametrize("form", ["dense", "sparse", "single"])
def test_exact_equals_scikit_learn(form):
    expected = OneClassSVM(kernel="rbf", nu=0.2, gamma=0.1).fit(as_form(TRAIN, form))
    machine = fit_one_class_svm(as_form(TRAIN, form), solver="exact", **FIT)
    decision = machine.decision(as_form(TEST, form))
    np.testing.assert_allclose(decision, expected.decision_function(as_form(TEST, form)), atol=1e-9)
    assert decision[-1] == decision.min()


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_sgd_equals_scikit_learn(form):
    landmarks = Nystroem(gamma=0.1, n_components=30, random_state=3)
    expected = SGDOneClassSVM(nu=0.2, random_state=3).fit(landmarks.fit_transform(as_form(TRAIN, form)))
    machine = fit_one_class_svm(as_form(TRAIN, form), solver="sgd", **FIT)
    np.testing.assert_allclose(
        machine.decision(as_form(TEST, form)),
        expected.decision_function(landmarks.transform(as_form(TEST, form))),
        atol=1e-9,
    )


def test_sgd_takes_no_more_landmarks_than_documents():
    assert len(fit_one_class_svm(TRAIN[:9], solver="sgd", **FIT).weights) == 9


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_arrays_round_trip(form):
    machine = fit_one_class_svm(as_form(TRAIN, form), solver="exact", **FIT)
    arrays = machine.to_arrays()
    assert all(isinstance(array, np.ndarray) for array in arrays.values())
    again = OneClassSvm.from_arrays(arrays)
    np.testing.assert_array_equal(again.decision(as_form(TEST, form)), machine.decision(as_form(TEST, form)))


def test_chunks_do_not_matter(monkeypatch):
    machine = fit_one_class_svm(TRAIN, solver="exact", **FIT)
    whole = machine.decision(TEST)
    monkeypatch.setattr(one_class_svm, "CHUNK", 7)
    np.testing.assert_allclose(machine.decision(TEST), whole)
    assert machine.decision(TEST[:0]).shape == (0,)


def test_dense_and_sparse_points_decide_alike():
    dense, sparse = (OneClassSvm(as_form(TRAIN, form), np.ones(60), 0.0, 0.3) for form in ("dense", "sparse"))
    np.testing.assert_allclose(sparse.decision(csr_array(TEST)), dense.decision(TEST), atol=1e-12)


def test_large_corpora_leave_the_exact_solver():
    def scores(**options):
        settings = build_settings({"training": {"method": "ocsvm"}, "baselines": options})
        train = Outputs(np.zeros((60, 2), dtype=np.float32), {"vectors": TRAIN})
        return OneClassSvmScore.fit(train, np.arange(60) % 2, settings).ood_score(train)

    large, sgd = scores(ocsvm_exact_limit=59), scores(ocsvm_solver="sgd")
    np.testing.assert_array_equal(large, sgd)
    assert not np.allclose(scores(), large)


def test_the_largest_corpus_of_the_exact_solver():
    settings = build_settings({"training": {"method": "ocsvm"}, "baselines": {"ocsvm_exact_limit": 60}})
    train = Outputs(np.zeros((60, 2), dtype=np.float32), {"vectors": TRAIN})
    score = OneClassSvmScore.fit(train, np.arange(60) % 2, settings)
    exact = OneClassSVM(nu=settings.baselines.ocsvm_nu, gamma=settings.baselines.ocsvm_gamma).fit(TRAIN)
    np.testing.assert_allclose(score.ood_score(train), -exact.decision_function(TRAIN), atol=1e-9)


def test_found_by_its_name_for_its_method_and_rebuilt_from_its_arrays():
    """f(1) = 1/2 + 2/2 − 1 as above; what lies far from all points has f = −1, and is rejected above 0."""
    assert SCORES.get("one-class-svm") is OneClassSvmScore and OneClassSvmScore.method_only
    state = OneClassSvm(np.array([[0.0], [2.0]]), np.array([1.0, 2.0]), -1.0, math.log(2)).to_arrays()
    score = OneClassSvmScore.from_state(state, build_settings({"training": {"method": "ocsvm"}}))
    found = score.ood_score(Outputs(np.zeros((2, 2), dtype=np.float32), {"vectors": np.array([[1.0], [99.0]])}))
    assert found == pytest.approx([-0.5, 1.0])
    assert score.published_threshold == 0.0
