r"""Statistics of the training documents, with further documents: the same as if all had been gathered at once.

.. math::
    \mu = \frac{n_1 \mu_1 + n_2 \mu_2}{n_1 + n_2}, \qquad
    S = S_1 + S_2 + \sum_c \frac{n_{c1} n_{c2}}{n_{c1} + n_{c2}} (\mu_{c1} - \mu_{c2})(\mu_{c1} - \mu_{c2})^T

n are numbers of documents, :math:`\mu` class means and S sums of products around them (Chan et al. 1979).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from masker.detection.arrays import Labels
from masker.detection.statistics import Moments, Statistics, gather_statistics
from masker.inference.outputs import Outputs


def joined_moments(first: Moments, second: Moments) -> Moments:
    """The moments of both sets of documents; the second may have more classes."""
    counts, means = np.zeros_like(second.counts), np.zeros_like(second.means)
    counts[: len(first.counts)], means[: len(first.means)] = first.counts, first.means
    total = np.maximum(counts + second.counts, 1.0)
    apart = means - second.means
    between = (apart.T * (counts * second.counts / total)) @ apart
    joined = (means * counts[:, None] + second.means * second.counts[:, None]) / total[:, None]
    return Moments(counts + second.counts, joined, first.within + second.within + between)


def grown_statistics(
    before: Statistics, outputs: Outputs, labels: Labels, bank_logits: npt.NDArray[np.float32], bank_size: int
) -> Statistics:
    """Statistics with N further documents, all of them in the bank if they are not more than ``bank_size``.

    Args:
        before: The present statistics.
        outputs: Logits of the new head and features of the further documents.
        labels: (N,) their classes.
        bank_logits: (M, C) logits of the new head for the present bank.
        bank_size: Most further documents in the bank.
    """
    kinds, n_classes = tuple(before.moments), bank_logits.shape[1]
    added = gather_statistics([outputs], labels, n_classes, kinds, bank_size, seed=0)
    lengths = None
    if before.bank_lengths is not None and added.bank_lengths is not None:
        lengths = np.concatenate([before.bank_lengths, added.bank_lengths])
    joined = replace(
        before,
        moments={kind: joined_moments(before.moments[kind], added.moments[kind]) for kind in kinds},
        bank={kind: np.concatenate([before.bank[kind], added.bank[kind]]) for kind in kinds},
        bank_logits=np.concatenate([bank_logits, added.bank_logits]),
        bank_labels=np.concatenate([before.bank_labels, added.bank_labels]),
        bank_lengths=lengths,
    )
    return Statistics.from_arrays(joined.to_arrays())
