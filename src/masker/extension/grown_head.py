r"""A linear head with more classes, that stays near what it was.

.. math::
    \min_{W, b} \; \tfrac12 \sum_c \lVert w_c - w_c^0 \rVert^2
    + C \sum_i \beta_{y_i} \, \ell(W x_i + b, y_i)

:math:`w_c^0` is the present row of a class, and 0 for a new one. The sum is over the new texts and over those that the
model kept of its training (the bank), so a new class learns what it is not, and the old ones make room for it.
:math:`\ell` is the cross-entropy of the head, softmax or one sigmoid a class. For a class of :math:`n_c` texts,
:math:`\beta_c \propto 1 / \sqrt{n_c}`, with mean 1, so that a new class of ten is heard beside old ones of hundreds.

The root is a compromise, chosen on seed 0 of HWU64 and SNIPS. Where all classes count alike (:math:`1 / n_c`), new ones
get more answers right, but some of them at the cost of the old ones, which lost up to a point.

Leaving the old rows as they are would change no old answer but those that a new class takes. It was tried on HWU64 with
32 + 32 classes, where all classes counted alike, and was worse for old and for new classes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_expit, logsumexp

from masker.blas_threads import one_blas_thread
from masker.config import Head
from masker.training.probe import STRENGTH, LinearMap

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

_MOST_STEPS = 300


def class_balance(labels: Labels) -> Floats:
    """(N,) weights β of texts with these classes: the sum over a class grows as the root of its size; the mean is 1."""
    _, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
    weights = 1.0 / np.sqrt(counts[inverse])
    return np.asarray(weights / weights.mean())


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


def grow_head(old: LinearMap, vectors: Floats, labels: Labels, n_classes: int, head: Head) -> LinearMap:
    """Fit the head to all classes, from the present one.

    Args:
        old: The present head, of the first classes.
        vectors: (N, F) inputs of the head: new texts, and kept ones.
        labels: (N,) their classes.
        n_classes: Classes of the new head.
        head: What the outputs mean.
    """
    from scipy.optimize import minimize

    before, width = len(old.bias), vectors.shape[1]
    length = float(np.linalg.norm(vectors, axis=1).mean()) or 1.0  # C is meant for vectors of length 1
    rows = vectors / length
    start = np.zeros((n_classes, width + 1))
    start[:before, :-1], start[:before, -1] = old.weight * length, old.bias
    balance = class_balance(labels)

    def objective(parameters: Floats) -> tuple[float, Floats]:
        here = parameters.reshape(n_classes, width + 1)
        loss, slope = head_loss(rows @ here[:, :-1].T + here[:, -1], labels, balance, head)
        apart = here[:, :-1] - start[:, :-1]
        gradient = np.hstack([apart + STRENGTH * slope.T @ rows, STRENGTH * slope.sum(axis=0)[:, None]])
        return 0.5 * float((apart**2).sum()) + STRENGTH * loss, gradient.ravel()

    with one_blas_thread():
        found = minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": _MOST_STEPS})
    final = found.x.reshape(n_classes, width + 1)
    return LinearMap(final[:, :-1] / length, final[:, -1])
