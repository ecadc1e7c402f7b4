"""How well groups of texts, found without labels, fit their classes.

A group below 0 means "in no group".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def clustering_accuracy(truth: npt.NDArray[Any], groups: npt.NDArray[np.int64]) -> float:
    """Share of texts in the group that is matched with their class, one to one; a text in no group is never right."""
    from scipy.optimize import linear_sum_assignment

    _, rows = np.unique(truth, return_inverse=True)
    inside = groups >= 0
    if not inside.any():
        return 0.0
    table = np.zeros((int(rows.max()) + 1, int(groups.max()) + 1))  # (classes, groups)
    np.add.at(table, (rows[inside], groups[inside]), 1.0)
    matched = linear_sum_assignment(-table)
    return float(table[matched].sum() / len(truth))


def clustering_report(truth: npt.NDArray[Any], groups: npt.NDArray[np.int64]) -> dict[str, float]:
    """Accuracy, normalized mutual information and adjusted Rand index; needs scikit-learn."""
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    return {
        "accuracy": clustering_accuracy(truth, groups),
        "nmi": float(normalized_mutual_info_score(truth, groups)),
        "ari": float(adjusted_rand_score(truth, groups)),
    }
