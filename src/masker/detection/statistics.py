"""What scores need to know of the training documents, gathered in one pass over them.

Sums and products are added up document by document and a sample of the feature vectors, the bank, is kept; so memory
does not grow with the corpus.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.inference.outputs import Outputs

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Moments:
    """Counts, means and products of the feature vectors of each class.

    Attributes:
        counts: (C,) documents.
        means: (C, H).
        within: (H, H) sum over documents of the outer product of what they differ from their class mean by.
    """

    counts: Floats
    means: Floats
    within: Floats

    @property
    def total(self) -> int:
        """All documents."""
        return int(self.counts.sum())

    @property
    def known_means(self) -> Floats:
        """(C', H) means of the classes that have documents; the mean of none would be a class at the origin."""
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
class Known:
    """Statistics of the training documents.

    Attributes:
        moments: By kind of features.
        bank: (M, H) features of the sample, by kind.
        bank_logits: (M, C) its logits.
        bank_labels: (M,) its classes.
        bank_lengths: (M,) its tokens; ``None`` in models saved before these were kept.
    """

    moments: dict[str, Moments]
    bank: dict[str, npt.NDArray[np.float32]]
    bank_logits: npt.NDArray[np.float32]
    bank_labels: Labels
    bank_lengths: Labels | None = None

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything as plain arrays of 32 bits."""
        arrays: dict[str, npt.NDArray[Any]] = {"bank.logits": self.bank_logits, "bank.labels": self.bank_labels}
        if self.bank_lengths is not None:
            arrays["bank.lengths"] = self.bank_lengths
        for kind, moments in self.moments.items():
            for part in ("counts", "means", "within"):
                arrays[f"{kind}.{part}"] = getattr(moments, part).astype(np.float32)
            arrays[f"{kind}.bank"] = self.bank[kind]
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[Any]]) -> Known:
        """Rebuild what :meth:`to_arrays` gave."""
        kinds = [name.removesuffix(".means") for name in arrays if name.endswith(".means")]
        moments = {
            kind: Moments(*(arrays[f"{kind}.{part}"].astype(np.float64) for part in ("counts", "means", "within")))
            for kind in kinds
        }
        bank = {kind: arrays[f"{kind}.bank"] for kind in kinds}
        return cls(moments, bank, arrays["bank.logits"], arrays["bank.labels"], arrays.get("bank.lengths"))

    def without(self, label: int, kinds: Sequence[str]) -> Known:
        """What would be known of the bank's documents alone had those of a class not been there."""
        n_classes = self.bank_logits.shape[1]
        kept = self.bank_labels != label
        labels = self.bank_labels[kept]
        outputs = Outputs(
            self.bank_logits[kept][:, np.arange(n_classes) != label],
            {kind: self.bank[kind][kept] for kind in kinds},
            None if self.bank_lengths is None else self.bank_lengths[kept],
        )
        return gather([outputs], labels - (labels > label), n_classes - 1, kinds, len(labels), 0)


def gather(
    stream: Iterable[Outputs], labels: Labels, n_classes: int, kinds: Sequence[str], bank_size: int, seed: int
) -> Known:
    """Add up the statistics of the training documents.

    Args:
        stream: Outputs of all documents, in order, some at a time.
        labels: (N,) their classes.
        n_classes: C.
        kinds: Which features.
        bank_size: Most documents that are kept; classes get the same number of them as far as they have it.
        seed: Draws the documents that are kept.
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
            sums[kind] = sums.get(kind, 0.0) + of_class.T @ rows
            products[kind] = products.get(kind, 0.0) + rows.T @ rows
            bank[kind].append(np.asarray(outputs.features[kind][kept], dtype=np.float32))
    moments = {}
    for kind in kinds:
        means = sums[kind] / np.maximum(counts, 1.0)[:, None]
        moments[kind] = Moments(counts, means, products[kind] - (means.T * counts) @ means)
    joined = {kind: np.concatenate(parts) for kind, parts in bank.items()}
    counted = np.concatenate(lengths) if lengths else None
    known = Known(moments, joined, np.concatenate(logits), labels[keep], counted)
    # Rounded now, so that a model scores alike before and after it is saved.
    return Known.from_arrays(known.to_arrays())


def bank_rows(labels: Labels, size: int, seed: int) -> Labels:
    """Row numbers of the sample, ascending: classes take turns, so a rare one is there with all it has."""
    order = np.random.default_rng(seed).permutation(len(labels))
    rank = np.empty(len(labels), dtype=np.int64)
    for label in np.unique(labels):
        members = order[labels[order] == label]
        rank[members] = np.arange(len(members))
    return np.sort(order[np.argsort(rank[order], kind="stable")[:size]])
