"""Labels: which class or number a raw label stands for, the type of a user's labels, and the index of each class."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from masker.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: Turns a class name back into the user's label, by the type of the labels.
LABEL_TYPES: dict[str, Callable[[str], Any]] = {"str": str, "int": int, "float": float, "bool": "true".__eq__}


def is_missing(label: object) -> bool:
    """Whether a raw label is absent: None, NaN, blank, or the word ``nan``."""
    if isinstance(label, str):
        return label.strip().lower() in ("", "nan")
    return label is None or (isinstance(label, (float, Decimal)) and math.isnan(label))


def as_class_name(label: object) -> str | None:
    """The class a raw label names, or ``None`` if it names none."""
    if isinstance(label, bool):
        return "true" if label else "false"
    if isinstance(label, int):
        return str(label)
    if isinstance(label, (float, Decimal)):
        if not math.isfinite(label):
            return None
        # pandas turns an integer column with gaps into floats: 3.0 means class 3.
        return str(int(label)) if label == int(label) else str(label)
    return label.strip() if isinstance(label, str) and not is_missing(label) else None


def as_label_list(labels: object) -> list[str] | None:
    """The class names in a raw list of labels, sorted, maybe none; ``None`` if it is not a list of labels."""
    if not isinstance(labels, (list, tuple)):
        return None
    names = [as_class_name(plain_label(label)) for label in labels]
    return None if None in names else sorted({name for name in names if name is not None})


def as_number(label: object) -> float | None:
    """The finite number a raw label stands for (regression), or ``None``."""
    # To Python, bool is an int and "1_0" a float; as a label neither is meant as a number.
    if isinstance(label, bool) or not isinstance(label, (int, float, str, Decimal)) or "_" in str(label):
        return None
    try:
        number = float(label)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def class_name(label: object) -> str:
    """The class named by a label of any type, NumPy scalars included."""
    name = as_class_name(plain_label(label))
    if name is None:
        raise DataError(f"label {label!r} does not name a class; label the text or leave it out")
    return name


def plain_label(label: object) -> object:
    """A label as a plain Python value: NumPy scalars become int, float, bool or str."""
    return label.item() if hasattr(label, "item") and hasattr(label, "dtype") else label


def label_type_of(labels: Sequence[object]) -> str:
    """The common type of all labels, a key of :data:`LABEL_TYPES`; ``str`` if they differ. Lists may hold them."""
    single = (one for label in labels for one in (label if isinstance(label, (list, tuple)) else [label]))
    kinds = {type(plain_label(label)).__name__ for label in single}
    return kinds.pop() if len(kinds) == 1 and kinds < set(LABEL_TYPES) else "str"


def class_indices(labels: Iterable[object], classes: Sequence[str]) -> npt.NDArray[np.int64]:
    """(N,) index of each label in ``classes``."""
    import numpy as np

    index = {name: place for place, name in enumerate(classes)}
    names = [class_name(label) for label in labels]
    unknown = next((name for name in names if name not in index), None)
    if unknown is not None:
        raise DataError(f"label '{unknown}' is not one of the model's classes ({', '.join(classes)})")
    return np.array([index[name] for name in names], dtype=np.int64)


def label_matrix(labels: Iterable[object], classes: Sequence[str]) -> npt.NDArray[np.int8]:
    """(N, C) 1 where a document has a label, from lists of labels."""
    import numpy as np

    rows = list(labels)
    matrix = np.zeros((len(rows), len(classes)), dtype=np.int8)
    for row, raw in enumerate(rows):
        names = as_label_list(raw)
        if names is None:
            raise DataError(f"each text needs a list of labels, empty if it has none; got {raw!r}")
        matrix[row, class_indices(names, classes)] = 1
    return matrix
