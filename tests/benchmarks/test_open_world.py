"""What the open-world benchmark measures, and its page."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.drift_page import write_tables
from benchmarks.open_world import PAGE, stored
from benchmarks.open_world_cells import Cell, clustering_accuracy, clustering_figures
from benchmarks.open_world_page import TABLES


def test_clustering_accuracy_by_hand():
    """Class a is in group 1 twice and in 0 once, b in group 0 twice: matched a-1 and b-0, 4 of 5 texts are right."""
    truth = np.array(["a", "a", "a", "b", "b"])
    assert clustering_accuracy(truth, np.array([1, 1, 0, 0, 0])) == pytest.approx(0.8)
    assert clustering_accuracy(truth, np.array([1, 1, -1, 0, 2])) == pytest.approx(0.6)
    assert clustering_accuracy(truth, np.full(5, -1)) == 0
    assert clustering_figures(truth, np.array([5, 5, 5, 2, 2])) == pytest.approx({"accuracy": 1, "nmi": 1, "ari": 1})


def test_the_page_is_up_to_date(tmp_path):
    copy = tmp_path / "open-world.md"
    copy.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    write_tables(stored(), copy, TABLES)
    made = copy.read_text(encoding="utf-8")
    assert made == PAGE.read_text(encoding="utf-8"), "python -m benchmarks.open_world --page"


def test_tables_by_hand(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("\n".join(f"<!-- table {name} -->\n<!-- end of table -->" for name in TABLES))
    figures = {"accuracy": 0.5, "nmi": 0.6, "ari": 0.7}
    cell = {"classes": 5, "groups": 6, "masker": figures, "k_means": {**figures, "accuracy": 0.4, "ari": 0.8}}
    accuracy = {
        "accuracy_old": 0.9,
        "among_old": 0.95,
        "accuracy_new": None,
        "rejected_known": 0.06,
        "rejected_old": 0.05,
        "rejected_new": 0.04,
    }
    extended = {"old_classes": 3, "new_classes": 1, "seconds": 2.0, "before": accuracy}
    made = {**accuracy, "accuracy_new": 0.8}
    review = {"accuracy": 0.5, "auroc": 0.9}
    reviewed = {"before": review, "budgets": {"50": {"review": {**review, "accuracy": 0.7}, "random": review}}}
    write_tables(
        {
            "discover": {Cell("snips", 0.25, seed).name: cell for seed in (0, 1)},
            "extend": {"snips 0.75 0": {**extended, "extended": made, "retrained": made}},
            "review": {"snips 0.5 0": reviewed},
        },
        page,
        TABLES,
    )
    text = page.read_text()
    assert "| snips | 25 % | 2 | 5 | 6 | **50.0** / 40.0 | 60.0 / **60.0** | 70.0 / **80.0** |" in text
    assert "Above it: 1 of 3 figures." in text
    assert "| 2.0 | 90.0 / 90.0 / 90.0 | 95.0 / 95.0 | 80.0 / 80.0 | 6.0 / 6.0 / 6.0 | 5.0 / 5.0 | 4.0 / 4.0 |" in text
    assert "| snips | 1 | 0 | 50.0 | 90.0 |" in text and "|  |  | 50 | 70.0 / 50.0 | 90.0 / 90.0 |" in text
