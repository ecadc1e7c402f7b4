"""Labels: what names a class, what type the user's labels have, and the index of each class."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from masker.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: From the name of a class back to the user's label, by the type of the labels.
LABEL_TYPES: dict[str, Callable[[str], Any]] = {"str": str, "int": int, "float": float, "bool": "true".__eq__}


def as_class_name(value: object) -> str | None:
    """The class that a raw label names, or ``None`` if it names none."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (float, Decimal)):
        # pandas turns a column of integers with a gap into floats: 3.0 means class 3.
        if not math.isfinite(value):
            return None
        return str(int(value)) if value == int(value) else str(value)
    if isinstance(value, str):
        name = value.strip()
        return None if not name or name.lower() == "nan" else name
    return None


def class_name(label: object) -> str:
    """The class that a label of any type names, as it would in a file.

    Raises:
        DataError: When it names none.
    """
    name = as_class_name(plain_label(label))
    if name is None:
        raise DataError(f"label {label!r} names no class; give the text a class, or leave it out")
    return name


def plain_label(label: object) -> object:
    """A label as a Python value: NumPy scalars become the int, float, bool or str they hold."""
    return label.item() if hasattr(label, "item") and hasattr(label, "dtype") else label


def label_type_of(labels: Sequence[object]) -> str:
    """The common type of all labels, a key of :data:`LABEL_TYPES`; ``str`` if they differ."""
    kinds = {type(label).__name__ for label in labels}
    return kinds.pop() if len(kinds) == 1 and kinds < set(LABEL_TYPES) else "str"


def class_indices(labels: Iterable[object], classes: Sequence[str]) -> npt.NDArray[np.int64]:
    """(N,) index of each label among the classes.

    Raises:
        DataError: When a label is not one of the classes.
    """
    import numpy as np

    index = {name: place for place, name in enumerate(classes)}
    names = [class_name(label) for label in labels]
    unknown = next((name for name in names if name not in index), None)
    if unknown is not None:
        raise DataError(f"label '{unknown}' is none of the model's classes ({', '.join(classes)})")
    return np.array([index[name] for name in names], dtype=np.int64)
