"""Documents in the plane."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from masker.analysis.document_map import COLOURED_CLASSES, MAP_DOCUMENTS, OTHER_CLASSES, map_documents
from masker.config import build_settings
from masker.documents import Documents
from masker.inference.outputs import Outputs

pytest.importorskip("openTSNE")


def fake_model(method: str = "vanilla"):
    """Embeds a text as its number, on a line; a linear model gives sparse vectors."""

    def outputs(texts, kinds):
        rows = np.array([[float(text.split()[-1]), 1.0, 0.0] for text in texts])
        assert kinds == (("vectors",) if method == "linear" else ("cls",))
        return Outputs(np.zeros((len(texts), 2)), {kinds[0]: csr_array(rows) if method == "linear" else rows})

    return SimpleNamespace(settings=build_settings({"training": {"method": method}}), outputs=outputs)


def numbered(start: int, count: int, labels=None) -> Documents:
    return Documents([f"text {n}" for n in range(start, start + count)], None, labels, "d")


@pytest.mark.parametrize("method", ["vanilla", "linear"])
def test_sets_beside_each_other(method):
    sets = {"near": numbered(0, 10), "far": numbered(1000, 8)}
    found = map_documents(fake_model(method), "known and foreign", sets, with_texts=True)
    assert found.groups == ["near", "far"] and [point.group for point in found.points] == ["near"] * 10 + ["far"] * 8
    assert found.points[3].text == "text 3" and found.points[3].label is None
    assert found.silhouette > 0.9


def test_a_single_set_is_grouped_by_class_and_small_classes_together():
    labels = [f"class {n % 9}" for n in range(40)]
    found = map_documents(fake_model(), "classes", {"test": numbered(0, 40, labels)}, with_texts=False)
    assert len(found.groups) == COLOURED_CLASSES + 1 and found.groups[-1] == OTHER_CLASSES
    assert {point.label for point in found.points if point.group == OTHER_CLASSES} == {"class 7", "class 8"}
    assert all(point.text is None for point in found.points)


def test_large_sets_are_sampled():
    found = map_documents(fake_model(), "t", {"test": numbered(0, MAP_DOCUMENTS + 50)}, with_texts=True)
    assert len(found.points) == MAP_DOCUMENTS and found.silhouette is None and found.groups == ["test"]
