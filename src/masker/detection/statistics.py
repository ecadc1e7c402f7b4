"""Statistics of the training documents that scores are built from, gathered in one pass.

Sums and products are accumulated, and a sample of the feature vectors, the bank, is kept; so memory does not grow with
the corpus.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from masker.blas_threads import one_blas_thread
from masker.detection.arrays import Arrays, Floats, Labels
from masker.inference.outputs import Outputs


@dataclass(frozen=True)
class Moments:
    """Counts, means and products of feature vectors."""

    counts: Floats  # (C,) documents of each class
    means: Floats  # (C, H) mean vector of each class
    within: Floats  # (H, H) sum over documents of the outer product of their deviation from the class mean

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    @property
    def known_means(self) -> Floats:
        """(C', H) means of the classes that have documents; an empty class would otherwise lie at the origin."""
        return self.means[self.counts > 0]

    @property
    def mean(self) -> Floats:
        """(H,) mean of all documents."""
        return np.asarray(self.counts @ self.means / max(1, self.total))

    @property
    def covariance_within(self) -> Floats:
        """(H, H) covariance around the class means."""
        return self.within / max(1, self.total)

    @property
    def covariance(self) -> Floats:
        """(H, H) covariance around the mean of all documents."""
        apart = self.means - self.mean
        return np.asarray(self.covariance_within + (apart.T * self.counts) @ apart / max(1, self.total))


@dataclass(frozen=True)
class Statistics:
    """Statistics of the training documents: moments and, from the M documents of the bank, features by kind."""

    moments: dict[str, Moments]
    bank: dict[str, npt.NDArray[np.float32]]  # (M, H)
    bank_logits: npt.NDArray[np.float32]  # (M, C)
    bank_labels: Labels  # (M,)
    bank_lengths: Labels | None = None  # (M,) tokens; None if they were not counted

    def to_arrays(self) -> Arrays:
        """Everything as plain 32-bit arrays."""
        arrays: Arrays = {"bank.logits": self.bank_logits, "bank.labels": self.bank_labels}
        if self.bank_lengths is not None:
            arrays["bank.lengths"] = self.bank_lengths
        for kind, moments in self.moments.items():
            for part in ("counts", "means", "within"):
                arrays[f"{kind}.{part}"] = getattr(moments, part).astype(np.float32)
            arrays[f"{kind}.bank"] = self.bank[kind]
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Statistics:
        """The inverse of :meth:`to_arrays`."""
        kinds = [name.removesuffix(".means") for name in arrays if name.endswith(".means")]
        moments = {
            kind: Moments(*(arrays[f"{kind}.{part}"].astype(np.float64) for part in ("counts", "means", "within")))
            for kind in kinds
        }
        bank = {kind: arrays[f"{kind}.bank"] for kind in kinds}
        return cls(moments, bank, arrays["bank.logits"], arrays["bank.labels"], arrays.get("bank.lengths"))


def gather_statistics(
    stream: Iterable[Outputs], labels: Labels, n_classes: int, kinds: Sequence[str], bank_size: int, seed: int
) -> Statistics:
    """Accumulate the statistics of the training documents.

    Args:
        stream: Outputs of all documents in order, in chunks.
        labels: (N,) their classes.
        kinds: Kinds of features.
        bank_size: Maximal number of documents in the bank, balanced over the classes.
    """
    keep = np.zeros(len(labels), dtype=bool)
    keep[bank_rows(labels, bank_size, seed)] = True
    counts = np.bincount(labels, minlength=n_classes).astype(np.float64)
    sums: dict[str, Floats] = {}
    products: dict[str, Floats] = {}
    bank: dict[str, list[npt.NDArray[np.float32]]] = {kind: [] for kind in kinds}
    logits: list[npt.NDArray[np.float32]] = []
    lengths: list[Labels] = []
    start = 0
    for outputs in stream:
        here = slice(start, start + len(outputs.logits))
        start = here.stop
        of_class = np.eye(n_classes)[labels[here]]  # (B, C)
        kept = keep[here]
        logits.append(outputs.logits[kept])
        lengths += [] if outputs.lengths is None else [outputs.lengths[kept]]
        for kind in kinds:
            rows = np.asarray(outputs.features[kind], dtype=np.float64)
            with one_blas_thread():
                sums[kind] = sums.get(kind, 0.0) + of_class.T @ rows
                products[kind] = products.get(kind, 0.0) + rows.T @ rows
            bank[kind].append(np.asarray(outputs.features[kind][kept], dtype=np.float32))
    moments = {}
    for kind in kinds:
        means = sums[kind] / np.maximum(counts, 1.0)[:, None]
        moments[kind] = Moments(counts, means, products[kind] - (means.T * counts) @ means)
    joined = {kind: np.concatenate(parts) for kind, parts in bank.items()}
    counted = np.concatenate(lengths) if lengths else None
    exact = Statistics(moments, joined, np.concatenate(logits), labels[keep], counted)
    # Rounded now, so that a model gives the same scores before and after it is saved.
    return Statistics.from_arrays(exact.to_arrays())


def bank_rows(labels: Labels, size: int, seed: int) -> Labels:
    """Row numbers of the bank, ascending: classes take turns, so a rare class is included completely."""
    order = np.random.default_rng(seed).permutation(len(labels))
    rank = np.empty(len(labels), dtype=np.int64)
    for label in np.unique(labels):
        members = order[labels[order] == label]
        rank[members] = np.arange(len(members))
    return np.sort(order[np.argsort(rank[order], kind="stable")[:size]])
