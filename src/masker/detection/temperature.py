r"""Temperature scaling (Guo et al. 2017): one number that makes confidence mean what it says.

.. math::
    \hat p = softmax(z / T) \text{ or } \sigma(z / T), \qquad
    T = \arg\min_T -\sum_i \sum_c \bigl[ t_{ic} \log \hat p_{ic} \; \{ + (1 - t_{ic}) \log (1 - \hat p_{ic}) \} \bigr]

over held-out documents; the part in braces belongs to a 1-vs-rest head. The order of the classes does not change.
The targets t are not 0 and 1 but those of Laplace's rule, as Platt (1999) has it: 1 − ε for the true class and
ε / (C − 1) for each other with ε = 1 / (n + 2). Without that, n held-out documents that are all right would ask for
certainty.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import log_expit, log_softmax

from masker.config import Head

#: Held-out documents below which the confidence is left as it is.
LEAST_DOCUMENTS = 20
_RANGE = (np.log(0.05), np.log(20.0))


def smooth_targets(labels: npt.NDArray[np.int64], n_classes: int) -> npt.NDArray[np.float64]:
    """(N, C) targets t by Laplace's rule."""
    spill = 1.0 / (len(labels) + 2)
    targets = np.full((len(labels), n_classes), spill / max(1, n_classes - 1))
    targets[np.arange(len(labels)), labels] = 1.0 - spill
    return targets


def negative_log_likelihood(
    temperature: float, doc_logits: npt.NDArray[np.floating], targets: npt.NDArray[np.float64], head: Head
) -> float:
    """What T minimises."""
    logits = np.asarray(doc_logits, dtype=np.float64) / temperature
    if head == "one-vs-rest":
        return -float((targets * log_expit(logits) + (1.0 - targets) * log_expit(-logits)).sum())
    return -float((targets * log_softmax(logits, axis=1)).sum())


def fit_temperature(
    doc_logits: npt.NDArray[np.floating], labels: npt.NDArray[np.int64], head: Head, *, too_few: float = 1.0
) -> float:
    """T for held-out documents.

    Args:
        doc_logits: (N, C) outputs of f_doc.
        labels: (N,) true classes.
        head: ``one-vs-rest`` or ``multi-class``.
        too_few: T where there are fewer than :data:`LEAST_DOCUMENTS`.
    """
    if len(labels) < LEAST_DOCUMENTS:
        return too_few
    targets = smooth_targets(labels, doc_logits.shape[1])
    best = minimize_scalar(
        lambda log_t: negative_log_likelihood(float(np.exp(log_t)), doc_logits, targets, head),
        bounds=_RANGE,
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(np.exp(best.x))
