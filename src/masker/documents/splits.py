"""Seeded splits: training and validation rows, in- and out-of-distribution classes, random samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from masker.documents.collection import Documents
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
    """Draw the classes that count as in-distribution: ``ratio * C`` of them, rounded down, at least two.

    So 10, 25 and 50 % of the 50 Amazon classes are 5, 12 and 25, as in the experiments that set this protocol (Shu et
    al. 2017) and in the paper's.

    The draw depends on the set of names, the ratio and the seed only, so training and test documents of one corpus
    agree about it.
    """
    if not 0.0 < ratio <= 1.0:
        raise ConfigError(f"ratio of in-distribution classes: must be above 0 and at most 1; got {ratio!r}")
    names = sorted(set(class_names))
    if len(names) < 2:
        raise DataError(f"a split by class needs at least two classes; got {len(names)}: {', '.join(names) or 'none'}")
    count = max(2, int(ratio * len(names) + 1e-9))  # 0.29 * 100 is a little less than 29
    drawn = np.random.default_rng(seed).permutation(len(names))[:count]
    return sorted(names[i] for i in drawn)


class DetectionSplit(NamedTuple):
    """A corpus cut for out-of-distribution detection: what is trained on, what is tested, and what is to be noticed."""

    train: Documents
    test: Documents
    unseen: Documents


def detection_split(train: Documents, test: Documents, ratio: float, seed: int) -> DetectionSplit:
    """Cut a corpus as the paper does: train and test on some of its classes, and test whether the rest is noticed.

    Args:
        train: The training documents, whose classes are drawn from.
        test: The test documents; those of a class that was not drawn become ``unseen``.
        ratio: The share of classes that is in-distribution; the paper has 0.1, 0.25 and 0.5.
        seed: Decides which classes those are; the paper's trials differ in it.

    Raises:
        DataError: If no test document is of a drawn class.
    """
    inside = set(in_distribution_classes(train.class_names, ratio, seed))
    train_labels, test_labels = train.labels or [], test.labels or []
    known = [i for i, label in enumerate(test_labels) if label in inside]
    if not known:
        raise DataError(f"{test.name}: has no document of the classes {', '.join(sorted(inside))} of {train.name}")
    return DetectionSplit(
        train.take([i for i, label in enumerate(train_labels) if label in inside]),
        test.take(known),
        test.take([i for i, label in enumerate(test_labels) if label not in inside]),
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
