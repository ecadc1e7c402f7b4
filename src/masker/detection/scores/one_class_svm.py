r"""One-class support vector machine (Schölkopf et al. 2000) with a Gaussian kernel.

.. math::
    f(x) = \sum_i a_i \exp(-\gamma \lVert x - x_i \rVert^2) + b

f is positive where the training documents lie. Two solvers find it, both of scikit-learn, and both end in this form:

* ``exact``, :class:`sklearn.svm.OneClassSVM`: x_i are the support vectors. Time grows with the square of N.
* ``sgd``, :class:`sklearn.linear_model.SGDOneClassSVM` on Nystroem features φ(x) = M k(x) of landmarks x_i: since
  wᵀφ(x) = (Mᵀw)ᵀ k(x), the weights are a = Mᵀw. Time grows with N.

The out-of-distribution score is −f(x); the published rule rejects where f(x) < 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse

Floats = npt.NDArray[np.float64]
Solver = Literal["exact", "sgd"]

#: Documents whose kernel values are held at a time.
CHUNK = 1024


@dataclass(frozen=True)
class OneClassSvm:
    """f, ready to be evaluated.

    Attributes:
        points: (S, F) support vectors or landmarks x_i, dense or sparse.
        weights: (S,) a_i.
        intercept: b.
        gamma: γ.
    """

    points: Any
    weights: Floats
    intercept: float
    gamma: float

    def decision(self, features: Any) -> Floats:
        """(N,) values f(x) of (N, F) features, dense or sparse."""
        parts = [
            gaussian_kernel(features[start : start + CHUNK], self.points, self.gamma) @ self.weights
            for start in range(0, features.shape[0], CHUNK)
        ]
        return np.asarray(np.concatenate(parts) + self.intercept) if parts else np.empty(0)

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything as plain arrays."""
        arrays: dict[str, npt.NDArray[Any]] = {
            "weights": self.weights,
            "intercept": np.array(self.intercept),
            "gamma": np.array(self.gamma),
        }
        if issparse(self.points):
            arrays |= {f"points.{part}": getattr(self.points, part) for part in ("data", "indices", "indptr")}
            return {**arrays, "points.shape": np.array(self.points.shape)}
        return {**arrays, "points": self.points}

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[Any]]) -> OneClassSvm:
        """Rebuild what :meth:`to_arrays` gave."""
        if "points" in arrays:
            points = arrays["points"]
        else:
            parts = tuple(arrays[f"points.{part}"] for part in ("data", "indices", "indptr"))
            points = csr_array(parts, shape=tuple(arrays["points.shape"].tolist()))
        return cls(points, arrays["weights"], float(arrays["intercept"]), float(arrays["gamma"]))


def gaussian_kernel(x: Any, points: Any, gamma: float) -> Floats:
    """(N, S) values exp(−γ |x − x_i|²) of rows, dense or sparse."""
    product = x @ points.T
    product = product.toarray() if issparse(product) else product
    squared = _squared_lengths(x)[:, None] + _squared_lengths(points) - 2.0 * product
    return np.asarray(np.exp(-gamma * np.maximum(squared, 0.0)))


def fit_one_class_svm(
    features: Any, *, nu: float, gamma: float, solver: Solver, components: int, seed: int
) -> OneClassSvm:
    """Fit f to (N, F) features of training documents.

    Args:
        features: Dense or sparse.
        nu: ν, an upper bound on the share of training documents outside.
        gamma: γ.
        solver: ``exact`` or ``sgd``.
        components: Landmarks of ``sgd``, at most N.
        seed: Draws the landmarks and orders the steps of ``sgd``.
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


def _squared_lengths(rows: Any) -> Floats:
    return np.asarray(rows.multiply(rows).sum(axis=1) if issparse(rows) else np.square(rows).sum(axis=1))
