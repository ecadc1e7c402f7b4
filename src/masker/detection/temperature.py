r"""Temperature scaling (Guo et al. 2017): one number that makes confidence mean what it says.

.. math::
    \hat p = softmax(z / T) \text{ or } \sigma(z / T), \qquad
    T = \arg\min_T -\sum_i \sum_c \bigl[ t_{ic} \log \hat p_{ic} \; \{ + (1 - t_{ic}) \log (1 - \hat p_{ic}) \} \bigr]

The sum is over held-out documents; the part in braces belongs to a 1-vs-rest head. The order of the classes does not
change. The targets t are not 0 and 1 but follow Laplace's rule, as in Platt (1999): 1 − ε for the true class and
ε / (C − 1) for each other, with ε = 1 / (n + 2). Without that, n held-out documents that are all classified correctly
would ask for certainty.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import log_expit, log_softmax

from masker.config import SIGMOID_HEADS, Head
from masker.detection.arrays import Floats, Labels

#: With fewer held-out documents the temperature is not fitted.
MIN_DOCUMENTS_FOR_TEMPERATURE = 20
_RANGE = (np.log(0.05), np.log(20.0))


def smooth_targets(labels: Labels, n_classes: int) -> Floats:
    """(N, C) targets t by Laplace's rule, from (N,) classes or (N, C) flags of labels."""
    spill = 1.0 / (len(labels) + 2)
    if labels.ndim == 2:
        few = spill * labels.sum() / max(1, (labels == 0).sum())  # as much over all as is taken from the true labels
        return np.where(labels > 0, 1.0 - spill, few)
    targets = np.full((len(labels), n_classes), spill / max(1, n_classes - 1))
    targets[np.arange(len(labels)), labels] = 1.0 - spill
    return targets


def negative_log_likelihood(
    temperature: float, doc_logits: npt.NDArray[np.floating], targets: Floats, head: Head
) -> float:
    """The quantity that T minimises."""
    logits = np.asarray(doc_logits, dtype=np.float64) / temperature
    if head in SIGMOID_HEADS:
        return -float((targets * log_expit(logits) + (1.0 - targets) * log_expit(-logits)).sum())
    return -float((targets * log_softmax(logits, axis=1)).sum())


def fit_temperature(doc_logits: npt.NDArray[np.floating], labels: Labels, head: Head, *, too_few: float = 1.0) -> float:
    """Fit T to the (N, C) logits of held-out documents; ``too_few`` is returned if N is below the minimum."""
    if len(labels) < MIN_DOCUMENTS_FOR_TEMPERATURE:
        return too_few
    from scipy.optimize import minimize_scalar  # slow to import, and only fitting needs it

    targets = smooth_targets(labels, doc_logits.shape[1])
    best = minimize_scalar(
        lambda log_t: negative_log_likelihood(float(np.exp(log_t)), doc_logits, targets, head),
        bounds=_RANGE,
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(np.exp(best.x))
