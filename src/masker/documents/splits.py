"""Seeded splits: training and validation rows, in- and out-of-distribution classes, random samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from masker.documents.document_set import Documents
from masker.errors import ConfigError, DataError


def validation_split(
    labels: Sequence[object], fraction: float, seed: int, *, keep_one: bool = True
) -> tuple[list[int], list[int]]:
    """Split row numbers into training and validation rows.

    Classes are stratified; those too small for a row of their own share a stratum, in which every row is equally
    likely. With ``keep_one`` each class keeps a training document, so if no class has two, the validation part is
    empty. Numbers and lists are split at random. Apart from that, two rows suffice for a validation part of one. Both
    parts are ascending.
    """
    if not 0.0 < fraction < 1.0:
        raise ConfigError(f"data.validation_fraction: must lie strictly between 0 and 1; got {fraction!r}")
    rng = np.random.default_rng(seed)
    groups: dict[str, list[int]] = {}
    for i, label in enumerate(labels):
        groups.setdefault(label if isinstance(label, str) else "", []).append(i)
    members = [groups[name] for name in sorted(groups)]
    large = [rows for rows in members if int(fraction * len(rows)) > 0]
    small = [rows for rows in members if int(fraction * len(rows)) == 0 and (len(rows) > 1 or not keep_one)]
    validation: set[int] = set()
    for rows, count in zip(large, _shares([len(rows) for rows in large], fraction), strict=True):
        validation.update(int(i) for i in rng.permutation(rows)[:count])
    validation.update(_evenly_spaced(small, fraction, rng, least=0 if large else 1))
    return [i for i in range(len(labels)) if i not in validation], sorted(validation)


def in_distribution_classes(class_names: Iterable[str], ratio: float, seed: int) -> list[str]:
    """Draw the in-distribution classes: ``ratio * C`` of them, rounded down, but at least two.

    So 10, 25 and 50 % of the 50 Amazon classes are 5, 12 and 25, as in the paper and in the experiments that set this
    protocol (Shu et al. 2017). The draw is the same for training and test data if both have the same classes.
    """
    if not 0.0 < ratio <= 1.0:
        raise ConfigError(f"ratio of in-distribution classes: must be above 0 and at most 1; got {ratio!r}")
    names = sorted(set(class_names))
    if len(names) < 2:
        raise DataError(f"a split by class needs at least two classes; got {len(names)}: {', '.join(names) or 'none'}")
    count = max(2, int(ratio * len(names) + 1e-9))  # in floats, 0.29 * 100 is slightly less than 29
    drawn = np.random.default_rng(seed).permutation(len(names))[:count]
    return sorted(names[i] for i in drawn)


class DetectionSplit(NamedTuple):
    """A corpus split for out-of-distribution detection; ``unseen`` holds the test documents of left-out classes."""

    train: Documents
    test: Documents
    unseen: Documents


def detection_split(train: Documents, test: Documents, ratio: float, seed: int) -> DetectionSplit:
    """Split a corpus as the paper does: train and test on some classes of ``train``, and detect the others.

    The paper's shares of in-distribution classes are 0.1, 0.25 and 0.5; the seed differs between its trials.
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
    """Draw ``count`` random documents, or take all if there are no more, in their original order."""
    if count < 1:
        raise ConfigError(f"number of documents to sample: must be at least 1; got {count!r}")
    if count >= len(documents):
        return documents
    drawn = np.random.default_rng(seed).permutation(len(documents))[:count]
    return documents.take(sorted(int(i) for i in drawn))


def subsample_classes(documents: Documents, count: int, seed: int) -> Documents:
    """Draw ``count`` random documents of each class, or all of a class that has no more, in their original order.

    With the same seed, a smaller ``count`` draws some of the same documents.
    """
    if count < 1:
        raise ConfigError(f"number of documents to sample from each class: must be at least 1; got {count!r}")
    labels = [str(label) for label in documents.labels or []]
    drawn: dict[str, list[int]] = {}
    for i in np.random.default_rng(seed).permutation(len(labels)):
        members = drawn.setdefault(labels[i], [])
        if len(members) < count:
            members.append(int(i))
    return documents.take(sorted(i for members in drawn.values() for i in members))


def _shares(sizes: list[int], fraction: float) -> list[int]:
    """Validation rows per group by largest remainder, so that all together contribute their share."""
    target = round(fraction * sum(sizes))
    counts = [min(int(fraction * size), size - 1) for size in sizes]
    for i in sorted(range(len(sizes)), key=lambda i: (counts[i] - fraction * sizes[i], i)):
        if sum(counts) >= target:
            break
        if counts[i] < sizes[i] - 1:
            counts[i] += 1
    return counts


def _evenly_spaced(groups: list[list[int]], fraction: float, rng: np.random.Generator, least: int) -> list[int]:
    """A share of the rows of small groups, from as many groups as possible: systematic sampling from a random start."""
    line = [int(i) for group in rng.permutation(len(groups)) for i in rng.permutation(groups[group])]
    count = max(least, round(fraction * len(line))) if line else 0
    start = rng.random()
    return [line[int((start + step) * len(line) / count)] for step in range(count)]
