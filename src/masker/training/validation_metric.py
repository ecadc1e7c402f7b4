"""How good a network is on held-out documents: one metric for each kind of head, and whether it beats its probe."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.config import Head
from masker.metrics import accuracy, micro_f1, pearson

#: The metric of each head; accuracy for the others.
METRIC_NAMES: dict[Head, str] = {"multi-label": "micro_f1", "regression": "pearson"}


def metric_name(head: Head) -> str:
    """The head's metric: accuracy, micro F1 or Pearson correlation."""
    return METRIC_NAMES.get(head, "accuracy")


def validation_metric(labels: npt.NDArray[Any], logits: npt.NDArray[Any], head: Head) -> dict[str, float]:
    """The metric of (N, C) logits, by its name. Labels are given at even odds: thresholds come later.

    Args:
        labels: (N,) classes or numbers, or (N, C) flags of the labels.
        logits: (N, C) outputs.
        head: What the outputs stand for.
    """
    if head == "regression":
        value = pearson(labels, logits[:, 0])
    elif head == "multi-label":
        value = micro_f1(labels, logits > 0)
    else:
        value = accuracy(labels, logits.argmax(axis=1))
    return {metric_name(head): value}


def right_answers(labels: npt.NDArray[Any], logits: npt.NDArray[Any], head: Head) -> npt.NDArray[np.bool_]:
    """(N,) whether the class, or every single label, is right."""
    if head == "multi-label":
        return np.asarray(((logits > 0) == (labels > 0)).all(axis=1))
    return np.asarray(logits.argmax(axis=1) == labels)


def lost_and_won(
    labels: npt.NDArray[Any], trained: npt.NDArray[Any], probe: npt.NDArray[Any], head: Head
) -> tuple[int, int, bool]:
    """Documents that only the probe gets right, those that only the trained network does, and whether the probe wins.

    It wins if training lost more documents than chance explains: of those that only one of the two gets right, more
    than one standard error too many. A tie goes to the trained network, whose features are better for detection.

    Args:
        labels: (N,) classes of held-out documents, or (N, C) flags of their labels.
        trained: (N, C) logits of the trained network.
        probe: (N, C) logits of the probe that it started from.
        head: What the outputs stand for.
    """
    right, before = right_answers(labels, trained, head), right_answers(labels, probe, head)
    lost, won = int((before & ~right).sum()), int((right & ~before).sum())
    return lost, won, lost - won > math.sqrt(lost + won)
