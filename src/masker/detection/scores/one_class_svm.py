r"""One-class support vector machine (Schölkopf et al. 2000) with a Gaussian kernel.

.. math::
    f(x) = \sum_i a_i \exp(-\gamma \lVert x - x_i \rVert^2) + b, \qquad s(x) = -f(x)

x (F,) is the vector of a document, x_i (F,) are S points with weights a_i. f is positive where the training documents
lie; the published rule rejects where f(x) < 0. Both solvers are scikit-learn's, and both end in this form:

* ``exact``, :class:`sklearn.svm.OneClassSVM`: x_i are the support vectors. Time grows with the square of N.
* ``sgd``, :class:`sklearn.linear_model.SGDOneClassSVM` on Nystroem features φ(x) = M k(x) of landmarks x_i: since
  wᵀφ(x) = (Mᵀw)ᵀ k(x), the weights are a = Mᵀw. Time grows linearly with N.

f is stored as plain arrays, because a fitted estimator could only be pickled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array, issparse

from masker.config import Settings
from masker.detection.arrays import Arrays, Floats, Labels
from masker.detection.score import LearntScore, register_score
from masker.inference.outputs import Outputs

Solver = Literal["exact", "sgd"]

#: Number of documents whose kernel values are held at a time.
CHUNK = 1024


@dataclass(frozen=True)
class OneClassSvm:
    """The function f."""

    points: Any  # (S, F) support vectors or landmarks x_i, dense or sparse
    weights: Floats  # (S,) a_i
    intercept: float  # b
    gamma: float

    def decision(self, features: Any) -> Floats:
        """(N,) values f(x) of (N, F) features, dense or sparse."""
        from sklearn.metrics.pairwise import rbf_kernel

        parts = [
            rbf_kernel(features[start : start + CHUNK], self.points, gamma=self.gamma) @ self.weights
            for start in range(0, features.shape[0], CHUNK)
        ]
        return np.asarray(np.concatenate(parts) + self.intercept) if parts else np.empty(0)

    def to_arrays(self) -> Arrays:
        arrays: Arrays = {"weights": self.weights, "intercept": np.array(self.intercept), "gamma": np.array(self.gamma)}
        if issparse(self.points):
            arrays |= {f"points.{part}": getattr(self.points, part) for part in ("data", "indices", "indptr")}
            return {**arrays, "points.shape": np.array(self.points.shape)}
        return {**arrays, "points": self.points}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> OneClassSvm:
        if "points" in arrays:
            points = arrays["points"]
        else:
            parts = tuple(arrays[f"points.{part}"] for part in ("data", "indices", "indptr"))
            points = csr_array(parts, shape=tuple(arrays["points.shape"].tolist()))
        return cls(points, arrays["weights"], float(arrays["intercept"]), float(arrays["gamma"]))


def fit_one_class_svm(
    features: Any, *, nu: float, gamma: float, solver: Solver, components: int, seed: int
) -> OneClassSvm:
    """Fit f to the training documents.

    Args:
        features: (N, F), dense or sparse.
        nu: ν, an upper bound on the share of training documents with f(x) < 0.
        components: Number of landmarks of ``sgd``, at most N.
        seed: Seed of the landmarks and of the steps of ``sgd``.
    """
    if solver == "exact":
        from sklearn.svm import OneClassSVM

        exact = OneClassSVM(kernel="rbf", nu=nu, gamma=gamma).fit(features)
        weights = exact.dual_coef_.toarray() if issparse(exact.dual_coef_) else exact.dual_coef_
        return OneClassSvm(_rows(exact.support_vectors_), np.asarray(weights[0]), float(exact.intercept_[0]), gamma)

    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import SGDOneClassSVM

    landmarks = Nystroem(gamma=gamma, n_components=min(components, features.shape[0]), random_state=seed)
    linear = SGDOneClassSVM(nu=nu, random_state=seed).fit(landmarks.fit_transform(features))
    weights = landmarks.normalization_.T @ linear.coef_
    return OneClassSvm(_rows(landmarks.components_), np.asarray(weights), -float(linear.offset_[0]), gamma)


def _rows(matrix: Any) -> Any:
    return csr_array(matrix) if issparse(matrix) else np.asarray(matrix, dtype=np.float64)


@register_score
class OneClassSvmScore(LearntScore):
    """Minus the decision value of a one-class SVM."""

    name, features = "one-class-svm", ("vectors",)
    published_threshold = 0.0
    method_only = True

    def __init__(self, machine: OneClassSvm) -> None:
        self._machine = machine

    def ood_score(self, outputs: Outputs) -> Floats:
        return -self._machine.decision(outputs.features[self.features[0]])

    @classmethod
    def fit(cls, outputs: Outputs, labels: Labels, settings: Settings) -> OneClassSvmScore:
        chosen = settings.baselines
        solver = chosen.ocsvm_solver
        if solver == "auto":
            solver = "exact" if len(labels) <= chosen.ocsvm_exact_limit else "sgd"
        machine = fit_one_class_svm(
            outputs.features[cls.features[0]],
            nu=chosen.ocsvm_nu,
            gamma=chosen.ocsvm_gamma,
            solver=solver,
            components=chosen.ocsvm_components,
            seed=settings.training.seed,
        )
        return cls(machine)

    def state(self) -> Arrays:
        return self._machine.to_arrays()

    @classmethod
    def from_state(cls, state: Arrays, settings: Settings) -> OneClassSvmScore:
        return cls(OneClassSvm.from_arrays(state))
