"""How many threads NumPy and SciPy multiply with."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from threadpoolctl import threadpool_limits


def one_blas_thread() -> AbstractContextManager[Any]:
    """While inside, NumPy and SciPy multiply in one thread.

    Each brings a BLAS with threads of its own, which spin while they wait: for each other, for PyTorch, for another
    process. Matrices of a few hundred columns gain little from two threads on a quiet machine. A fit by L-BFGS was up
    to ten times slower with them; eigenvectors of covariances suffer beside a busy process.
    """
    limits: AbstractContextManager[Any] = threadpool_limits(1, user_api="blas")
    return limits
