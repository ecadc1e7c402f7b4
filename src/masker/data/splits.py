"""Seeded splits: training and validation rows, in- and out-of-distribution classes, random samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from masker.data.documents import Documents
from masker.errors import ConfigError, DataError


def validation_split(
    labels: Sequence[str] | Sequence[float], fraction: float, seed: int
) -> tuple[list[int], list[int]]:
    """Split row numbers into training and validation rows.

    Class labels are stratified: each class gives its share, and none gives its last document away. So a class of one
    document stays in training, and where every class is like that the validation part is empty. Scores (floats) are
    split at random. From two rows on, the validation part has at least one row where the above allows it.

    Args:
        labels: Class names or scores, one a row.
        fraction: The share of rows to validate on, strictly between 0 and 1.
        seed: The same seed gives the same split.

    Returns:
        Training and validation row numbers, both ascending.
    """
    if not 0.0 < fraction < 1.0:
        raise ConfigError(f"data.validation_fraction: must lie strictly between 0 and 1; got {fraction!r}")
    rng = np.random.default_rng(seed)
    groups: dict[str, list[int]] = {}
    for i, label in enumerate(labels):
        groups.setdefault(label if isinstance(label, str) else "", []).append(i)
    members = [groups[name] for name in sorted(groups)]
    validation: set[int] = set()
    for rows, count in zip(members, _shares([len(rows) for rows in members], fraction), strict=True):
        validation.update(int(i) for i in rng.permutation(rows)[:count])
    return [i for i in range(len(labels)) if i not in validation], sorted(validation)


def in_distribution_classes(class_names: Iterable[str], ratio: float, seed: int) -> list[str]:
    """Draw the classes that count as in-distribution: ``round(ratio * C)`` of them, at least two.

    The draw depends on the set of names, the ratio and the seed only, so training and test documents of one corpus
    agree about it.
    """
    if not 0.0 < ratio <= 1.0:
        raise ConfigError(f"ratio of in-distribution classes: must be above 0 and at most 1; got {ratio!r}")
    names = sorted(set(class_names))
    if len(names) < 2:
        raise DataError(f"a split by class needs at least two classes; got {len(names)}: {', '.join(names) or 'none'}")
    count = max(2, round(ratio * len(names)))
    drawn = np.random.default_rng(seed).permutation(len(names))[:count]
    return sorted(names[i] for i in drawn)


def class_split(documents: Documents, ratio: float, seed: int) -> tuple[Documents, Documents]:
    """Split documents by class into in-distribution ones and the rest.

    Args:
        documents: Documents with class labels.
        ratio: The share of classes that is in-distribution.
        seed: Decides which classes those are.

    Returns:
        The in-distribution and the out-of-distribution documents; the latter are empty when no class is left.
    """
    inside = set(in_distribution_classes(documents.class_names, ratio, seed))
    labels = documents.labels or []
    return (
        documents.take([i for i, label in enumerate(labels) if label in inside]),
        documents.take([i for i, label in enumerate(labels) if label not in inside]),
    )


def subsample(documents: Documents, count: int, seed: int) -> Documents:
    """Return ``count`` random documents in their old order, or all of them when there are no more than that."""
    if count < 1:
        raise ConfigError(f"number of documents to sample: must be at least 1; got {count!r}")
    if count >= len(documents):
        return documents
    drawn = np.random.default_rng(seed).permutation(len(documents))[:count]
    return documents.take(sorted(int(i) for i in drawn))


def _shares(sizes: list[int], fraction: float) -> list[int]:
    """How many rows each group gives, by largest remainder, so that small classes together still give their share."""
    total = sum(sizes)
    target = max(1, round(fraction * total)) if total >= 2 else 0
    counts = [min(int(fraction * size), size - 1) for size in sizes]
    by_remainder = sorted(range(len(sizes)), key=lambda i: (counts[i] - fraction * sizes[i], i))
    for i in by_remainder:
        if sum(counts) >= target:
            break
        if counts[i] < sizes[i] - 1:
            counts[i] += 1
    return counts
