"""Points in the plane."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

from masker.analysis.plane import place_in_plane, silhouette
from masker.errors import MissingPackageError

DRAW = np.random.default_rng(0)
TWO = np.concatenate([DRAW.normal(size=(30, 80)), DRAW.normal(size=(30, 80)) + 6])
GROUPS = np.repeat([0, 1], 30)


@pytest.mark.parametrize("form", [np.asarray, csr_array, lambda rows: rows[:, :10]], ids=["dense", "sparse", "few"])
def test_groups_stay_apart(form):
    pytest.importorskip("openTSNE")
    plane = place_in_plane(form(TWO))
    assert plane.shape == (60, 2) and np.isfinite(plane).all()
    near = [np.abs(plane - point).sum(axis=1).argsort()[1] for point in plane]
    assert (GROUPS[near] == GROUPS).mean() > 0.95
    np.testing.assert_array_equal(plane, place_in_plane(form(TWO)), "the seed decides")


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
def test_few_documents(count):
    pytest.importorskip("openTSNE")
    plane = place_in_plane(TWO[:count])
    assert plane.shape == (count, 2) and np.isfinite(plane).all()


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_documents_that_are_all_alike(form):
    pytest.importorskip("openTSNE")
    plane = place_in_plane(form(np.ones((9, 70))))
    assert plane.shape == (9, 2) and np.isfinite(plane).all()


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "openTSNE", None)
    with pytest.raises(MissingPackageError, match=r"t-SNE needs openTSNE .* pip install 'masker\[report\]'"):
        place_in_plane(TWO)


def test_silhouette():
    assert silhouette(TWO, GROUPS) > 0.3
    assert abs(silhouette(TWO, np.tile([0, 1], 30))) < 0.1
    assert silhouette(TWO, np.zeros(60, dtype=int)) == silhouette(TWO[:2], np.array([0, 1])) == 0.0
