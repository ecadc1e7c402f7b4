"""Checks of the one-dimensional arrays that metrics take."""

from __future__ import annotations

from collections.abc import Sized

import numpy as np
import numpy.typing as npt

from masker.errors import DataError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def as_vector(values: npt.ArrayLike, name: str, *, finite: bool = False) -> FloatArray:
    """``values`` as a non-empty 1-D float64 array.

    ``finite`` also refuses infinities, which are fine where only the order matters. ``name`` is for error messages.
    """
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"{name} must be a flat list of numbers; received a {type(values).__name__} that does not convert to one. "
            "Pass one number per row."
        ) from None
    if vector.ndim != 1:
        raise DataError(
            f"{name} must be one-dimensional; received shape {vector.shape}. Pass one number per row, e.g. x.ravel()."
        )
    if vector.size == 0:
        raise DataError(f"{name} must hold at least one number; received none. Check that the data has rows.")
    refused = ~np.isfinite(vector) if finite else np.isnan(vector)
    if refused.any():
        what = "NaN or infinite values" if finite else "NaN"
        raise DataError(
            f"{name} must not contain {what}; received {int(refused.sum())} among {vector.size} numbers, the first at "
            f"position {int(refused.argmax())}. Check the model's output for those rows, or drop them."
        )
    return vector


def check_same_length(**columns: Sized) -> None:
    """Raise unless all named columns have the same number of rows, at least one."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        received = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise DataError(f"{' and '.join(lengths)} must have one entry per row each; received {received}.")
    if 0 in lengths.values():
        raise DataError(f"{' and '.join(lengths)} must hold at least one row; received none.")
