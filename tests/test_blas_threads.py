"""NumPy and SciPy multiply in one thread where they are told to, and as before afterwards."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from masker.blas_threads import one_blas_thread
from masker.detection import shrinkage


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_one_thread_inside_and_as_before_outside():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == before


def test_eigenvectors_are_computed_in_one_thread(monkeypatch):
    seen, eigh = [], np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda matrix: (seen.append(blas_threads()), eigh(matrix))[1])
    with threadpool_limits(2, user_api="blas"):
        shrinkage.whitening(np.eye(3))
    assert seen == [{1}]
