r"""A logistic regression on fixed vectors: the linear baseline, and the start of a network's head.

.. math::
    \min_{W, b} \; \tfrac12 \lVert W \rVert^2 + C \sum_i -\log \operatorname{softmax}(W x_i + b)_{y_i}

Fine-tuning from a random head distorts the encoder's features before the head is of any use; from a fitted one it does
not ("linear probing, then fine-tuning", Kumar et al. 2022), and needs far fewer steps.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from masker.blas_threads import one_blas_thread
from masker.config import SIGMOID_HEADS, Head

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

#: C for vectors of length 1, where fine-tuning follows and the exact value matters little.
STRENGTH = 10.0
#: C to choose from.
STRENGTHS = (1.0, 10.0, 100.0)
#: Documents that suffice to choose C.
CHOOSING_DOCUMENTS = 2000
#: A fit has converged when no entry of the gradient is larger than this, scikit-learn's default. The entries of a class
#: shrink with its share of the documents: with 2,000 classes all are below that from the start. So with more classes
#: than this the tolerance shrinks as well,
TOLERANCE, TOLERANCE_CLASSES = 1e-4, 100
#: and it is lower where one class or label, which may be rare, is told from all others.
REST_TOLERANCE = 1e-6
#: The logit of a class without any document, far below the others.
_ABSENT = -10.0


class LinearMap(NamedTuple):
    """Logits ``x @ weight.T + bias``."""

    weight: Floats  # (C, F)
    bias: Floats  # (C,)

    def __call__(self, vectors: Any) -> Floats:
        return np.asarray(vectors @ self.weight.T + self.bias)


def fit_probe(
    vectors: Any,
    labels: npt.NDArray[Any],
    n_classes: int,
    *,
    head: Head = "multi-class",
    strength: float = STRENGTH,
    balanced: bool = False,
) -> LinearMap:
    """Fit the regression for a head.

    Args:
        vectors: (N, F), dense or sparse, of about length 1.
        labels: (N,) class indices, or numbers for a regression; (N, C) flags for multi-label. The logit of a class
            without documents is a low constant.
        n_classes: C.
        head: ``one-vs-rest`` and ``multi-label`` fit each class against all others, ``regression`` a ridge regression.
        strength: C of the equation.
        balanced: Weight the documents so that all classes count alike.
    """
    with one_blas_thread():
        return _fit(vectors, labels, n_classes, head, strength, balanced)


def _fit(
    vectors: Any, labels: npt.NDArray[Any], n_classes: int, head: Head, strength: float, balanced: bool
) -> LinearMap:
    from sklearn.linear_model import LogisticRegression, Ridge

    if head == "regression":
        ridge = Ridge(alpha=1.0 / strength).fit(vectors, labels)
        return LinearMap(np.atleast_2d(ridge.coef_), np.atleast_1d(ridge.intercept_))
    model = LogisticRegression(C=strength, max_iter=1000, class_weight="balanced" if balanced else None)
    weight, bias = np.zeros((n_classes, vectors.shape[1])), np.full(n_classes, _ABSENT)
    if head in SIGMOID_HEADS:
        model.tol = REST_TOLERANCE
    if head == "multi-label":
        for label in range(n_classes):
            if 0 < labels[:, label].sum() < len(labels):
                model.fit(vectors, labels[:, label])
                weight[label], bias[label] = model.coef_[0], model.intercept_[0]
            elif len(labels) and labels[0, label]:
                bias[label] = -_ABSENT
        return LinearMap(weight, bias)
    present = np.unique(labels)
    if head == "one-vs-rest" and len(present) > 1:
        for label in present:
            model.fit(vectors, labels == label)
            weight[label], bias[label] = model.coef_[0], model.intercept_[0]
        return LinearMap(weight, bias)
    if len(present) == 1:
        bias[present] = 0.0
        return LinearMap(weight, bias)
    model.tol = TOLERANCE * min(1.0, TOLERANCE_CLASSES / len(present))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it does not matter if the last digits have not converged
        model.fit(vectors, labels)
    if len(present) == 2:
        # One logit z for two classes: softmax(-z/2, z/2) is the same, and both classes have a logit.
        half = model.coef_[0] / 2.0, model.intercept_[0] / 2.0
        weight[present], bias[present] = np.stack([-half[0], half[0]]), np.array([-half[1], half[1]])
    else:
        weight[present], bias[present] = model.coef_, model.intercept_
    return LinearMap(weight, bias)


def out_of_fold_logits(vectors: Any, labels: Labels, n_classes: int, folds: Labels, **options: Any) -> Floats:
    """(N, C) logits, those of each fold from a regression on the other folds; options as in :func:`fit_probe`."""
    logits = np.empty((len(labels), n_classes))
    for fold in np.unique(folds):
        inside = folds == fold
        probe = fit_probe(vectors[~inside], labels[~inside], n_classes, **options)
        logits[inside] = probe(vectors[inside])
    return logits


def cross_entropy(logits: Floats, labels: Labels) -> float:
    """Mean of −log softmax(logits) at the labels; for (N, C) flags, of the sum of the binary cross-entropies."""
    if labels.ndim == 2:
        return float((np.logaddexp(0.0, logits) - labels * logits).sum(axis=1).mean())
    shifted = logits - logits.max(axis=1, keepdims=True)
    return float((np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(labels)), labels]).mean())


def label_entropy(labels: Labels) -> float:
    """Cross-entropy of a predictor that knows only the class frequencies; for (N, C) flags, the sum over labels."""
    if labels.ndim == 2:
        shares = np.stack([labels.mean(axis=0), 1.0 - labels.mean(axis=0)])
    else:
        shares = np.bincount(labels) / len(labels)
    return float(-(shares[shares > 0] * np.log(shares[shares > 0])).sum())


def choose_strength(vectors: Any, labels: Labels, n_classes: int, folds: Labels, **options: Any) -> float:
    """The C of :data:`STRENGTHS` with the lowest cross-entropy on left-out folds; options as in :func:`fit_probe`."""
    # A sample, since documents may come sorted by class.
    rows = np.sort(np.random.default_rng(0).permutation(len(labels))[:CHOOSING_DOCUMENTS])
    if len(np.unique(folds[rows])) < 2:
        return STRENGTH
    figures = {
        strength: cross_entropy(
            out_of_fold_logits(vectors[rows], labels[rows], n_classes, folds[rows], strength=strength, **options),
            labels[rows],
        )
        for strength in STRENGTHS
    }
    return min(figures, key=lambda strength: figures[strength])
