r"""A linear head with more classes, that keeps what it knew.

.. math::
    \min_{w_c, b_c : c \in F} \; \tfrac12 \sum_{c \in F} \lVert w_c - w_c^0 \rVert^2
    + C \sum_i \beta_{y_i} \, \ell(W x_i + b, y_i)

F are the classes with new texts; the rows of all others stay. :math:`w_c^0` is the present row of a class, and 0 for a
new one. The sum is over the new texts and over those that the model kept of its training (the bank), so a new class
learns what it is not. :math:`\ell` is the cross-entropy of the head, softmax or one sigmoid a class, and
:math:`\beta_c` makes each class count alike, so that a new class of ten texts is heard beside old ones of hundreds;
their mean is 1. As the other rows are fixed, no old class can lose to another old class: the only new mistakes are
texts that a class of F takes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_expit, logsumexp

from masker.config import Head
from masker.training.probe import STRENGTH, LinearMap

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

_MOST_STEPS = 300


def class_balance(labels: Labels) -> Floats:
    """(N,) weights β of texts with these classes: every class has the same sum, and their mean is 1."""
    _, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
    return np.asarray(len(labels) / (len(counts) * counts[inverse]))


def head_loss(logits: Floats, labels: Labels, weights: Floats, head: Head) -> tuple[float, Floats]:
    """The weighted sum of the cross-entropies of (N, C) logits, and its (N, C) gradient."""
    targets = np.zeros_like(logits)
    targets[np.arange(len(labels)), labels] = 1.0
    if head == "one-vs-rest":
        losses = -(targets * log_expit(logits) + (1.0 - targets) * log_expit(-logits)).sum(axis=1)
        slope = expit(logits) - targets
    else:
        shifted = logits - logsumexp(logits, axis=1, keepdims=True)
        losses, slope = -shifted[np.arange(len(labels)), labels], np.exp(shifted) - targets
    return float(weights @ losses), slope * weights[:, None]


def grow_head(
    old: LinearMap, vectors: Floats, labels: Labels, free: Sequence[int], n_classes: int, head: Head
) -> LinearMap:
    """Fit the rows of the classes in ``free``.

    Args:
        old: The present head, of the first classes.
        vectors: (N, F) inputs of the head: new texts, and kept ones.
        labels: (N,) their classes.
        free: F of the equation.
        n_classes: Classes of the new head.
        head: What the outputs mean.
    """
    from scipy.optimize import minimize

    before, width = len(old.bias), vectors.shape[1]
    length = float(np.linalg.norm(vectors, axis=1).mean()) or 1.0  # C is meant for vectors of length 1
    rows = vectors / length
    weight, bias = np.zeros((n_classes, width)), np.zeros(n_classes)
    weight[:before], bias[:before] = old.weight * length, old.bias
    start_weight, start_bias = weight[list(free)].copy(), bias[list(free)].copy()
    balance = class_balance(labels)
    fixed = rows @ weight.T + bias

    def objective(parameters: Floats) -> tuple[float, Floats]:
        here = parameters.reshape(len(free), width + 1)
        logits = fixed.copy()
        logits[:, list(free)] = rows @ here[:, :-1].T + here[:, -1]
        loss, slope = head_loss(logits, labels, balance, head)
        apart, slope = here[:, :-1] - start_weight, slope[:, list(free)]
        gradient = np.hstack([apart + STRENGTH * slope.T @ rows, STRENGTH * slope.sum(axis=0)[:, None]])
        return 0.5 * float((apart**2).sum()) + STRENGTH * loss, gradient.ravel()

    begin = np.hstack([start_weight, start_bias[:, None]]).ravel()
    found = minimize(objective, begin, jac=True, method="L-BFGS-B", options={"maxiter": _MOST_STEPS})
    final = found.x.reshape(len(free), width + 1)
    weight[:before], bias[:before] = old.weight, old.bias  # to the last digit
    weight[list(free)], bias[list(free)] = final[:, :-1] / length, final[:, -1]
    return LinearMap(weight, bias)
