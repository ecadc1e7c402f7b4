r"""The rejection rule of DOC (Shu, Xu and Liu 2017): one threshold per class, from a Gaussian around probability 1.

The probabilities p(y = i | x) of the training documents of class i are mirrored at 1: each p gets a counterpart
1 + (1 − p). These points have mean 1 and standard deviation

.. math::
    \sigma_i = \sqrt{\frac{1}{n_i} \sum_{x \in i} (1 - p(y = i \mid x))^2}, \qquad
    t_i = \max(0.5,\ 1 - \alpha \sigma_i)

A document is rejected if every p_i is below t_i (both (C,)). The continuous score is the smallest shortfall,

.. math::
    s(x) = \min_i (t_i - p_i) = -\max_i (p_i - t_i)

which exceeds 0 exactly for the documents that DOC rejects.
"""

from __future__ import annotations

import numpy as np

from masker.config import Settings
from masker.detection.arrays import Arrays, Floats, Labels
from masker.detection.score import LearntScore, register_score
from masker.detection.scores.max_probability import class_probabilities
from masker.inference.outputs import Outputs


def gaussian_thresholds(probabilities: Floats, labels: Labels, alpha: float) -> Floats:
    """(C,) thresholds t_i from (N, C) sigmoid outputs and (N,) classes of the training documents.

    ``alpha`` is how many standard deviations below 1 a probability may be; 3 in the paper.
    """
    n_classes = probabilities.shape[1]
    shortfall = (1.0 - probabilities[np.arange(len(labels)), labels]) ** 2
    counts = np.bincount(labels, minlength=n_classes)
    sigma = np.sqrt(np.bincount(labels, shortfall, minlength=n_classes) / np.maximum(counts, 1))
    return np.asarray(np.maximum(0.5, 1.0 - alpha * sigma))


def doc_score(probabilities: Floats, thresholds: Floats) -> Floats:
    """(N,) scores s(x) of (N, C) sigmoid outputs; above 0 where DOC rejects."""
    return np.asarray((thresholds - probabilities).min(axis=1))


@register_score
class DocScore(LearntScore):
    """The smallest shortfall of the probabilities below DOC's thresholds."""

    name = "doc"
    published_threshold = 0.0
    method_only = True

    def __init__(self, thresholds: Floats) -> None:
        self._thresholds = thresholds

    def ood_score(self, outputs: Outputs) -> Floats:
        return doc_score(class_probabilities(outputs.logits, "one-vs-rest"), self._thresholds)

    @classmethod
    def fit(cls, outputs: Outputs, labels: Labels, settings: Settings) -> DocScore:
        probabilities = class_probabilities(outputs.logits, "one-vs-rest")
        return cls(gaussian_thresholds(probabilities, labels, settings.baselines.doc_alpha))

    def state(self) -> Arrays:
        return {"thresholds": self._thresholds}

    @classmethod
    def from_state(cls, state: Arrays, settings: Settings) -> DocScore:
        return cls(state["thresholds"])
