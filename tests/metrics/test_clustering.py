"""Groups against classes, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from masker.metrics import clustering_accuracy, clustering_report

TRUTH = np.array(["a", "a", "a", "b", "b"])


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([1, 1, 0, 0, 0], 0.8),  # a is matched with group 1, b with group 0: one a is elsewhere
        ([1, 1, -1, 0, 2], 0.6),  # a text in no group is wrong, and so is one of b in a group of its own
        ([0, 0, 0, 0, 0], 0.6),  # one group is matched with one class
        ([-1, -1, -1, -1, -1], 0.0),
    ],
)
def test_accuracy_matches_groups_and_classes_one_to_one(groups, expected):
    assert clustering_accuracy(TRUTH, np.array(groups)) == pytest.approx(expected)


def test_names_of_groups_do_not_matter():
    perfect = pytest.approx({"accuracy": 1, "nmi": 1, "ari": 1})
    assert clustering_report(TRUTH, np.array([5, 5, 5, 2, 2])) == perfect
    # Classes hold 3 + 1 pairs, groups 1 + 3, and 2 of them are in both; of 10 pairs, 4 * 4 / 10 = 1.6 would be by
    # chance, and at most (4 + 4) / 2 = 4: (2 - 1.6) / (4 - 1.6) = 1 / 6.
    report = clustering_report(TRUTH, np.array([1, 1, 0, 0, 0]))
    assert report["ari"] == pytest.approx(1 / 6) and 0 < report["nmi"] < 1
