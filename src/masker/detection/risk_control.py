r"""Conformal risk control (Angelopoulos et al. 2024) for the share of missed labels.

.. math::
    L_i(t) = \frac{1}{|Y_i|} \, \#\{c \in Y_i : z_{ic} < t\}, \qquad
    \hat t = \sup \Bigl\{ t : \frac{n}{n+1} \hat R(t) + \frac{1}{n+1} \le \alpha \Bigr\}, \qquad
    \hat R(t) = \frac1n \sum_{i=1}^n L_i(t)

:math:`Y_i` are the labels of held-out document i, :math:`z_{ic}` is the logit of label c, and a label is given where
:math:`z \ge t`. L lies between 0 and 1 and does not fall as t rises, so if a new document is exchangeable with the n
held-out ones (drawn from the same source, none of them trained on), then

.. math:: E[L_{n+1}(\hat t)] \le \alpha

for every n, and if no two logits are equal it is at least :math:`\alpha - 2 / (n + 1)`. The expectation is over the
held-out documents and the new one: on average over draws, not for each single model, and not for each single label.

A document without labels has none to miss. It would dilute the risk, so it is left out: the promise is about documents
that have a label. With n < 1/α − 1 no threshold keeps α; the highest that misses nothing among the held-out documents
is used then, and promises 1 / (n + 1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from masker.detection.arrays import Floats, Labels

_ROUNDING = 1e-9


class TrueLabels(NamedTuple):
    """The P labels that held-out documents have, over all documents."""

    logits: Floats  # (P,) what the network says of each
    labels: Labels  # (P,) their numbers
    documents: Labels  # (P,) the documents that have them


def missed_share_threshold(true: TrueLabels, missed_rate: float) -> float:
    """The highest threshold that keeps α = ``missed_rate``; P > 0. A label is given if its logit reaches it."""
    _, document = np.unique(true.documents, return_inverse=True)
    counts = np.bincount(document)
    weights = 1.0 / counts[document]  # (P,) what a document's L gains if this label is missed
    # n/(n+1) R + 1/(n+1) <= alpha  <=>  the sum of all L_i <= alpha (n + 1) - 1
    budget = max(0.0, missed_rate * (len(counts) + 1) - 1.0)
    if budget >= len(counts):
        return float("inf")
    values, place = np.unique(true.logits, return_inverse=True)
    missed = np.concatenate([[0.0], np.cumsum(np.bincount(place, weights=weights))[:-1]])  # sum of L_i at each value
    return float(values[np.flatnonzero(missed <= budget + _ROUNDING)[-1]])
