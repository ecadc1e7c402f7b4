"""Which output of a model the labels of the data mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.documents import Documents
from masker.errors import DataError

_SHOWN = 6


def output_names(config: Any, names: Sequence[str] | None = None) -> list[str]:
    """The names of a model's outputs in their order: the given ones, else those in its configuration.

    Raises:
        DataError: When as many different names are not given as there are outputs.
    """
    count = int(config.num_labels)
    if names is None:
        return [str(config.id2label.get(place, f"LABEL_{place}")) for place in range(count)]
    if len(names) != count or len(set(names)) != count:
        raise DataError(
            f"--labels must name the {count} outputs of the model, each differently; got {', '.join(names)}"
        )
    return list(names)


def label_indices(documents: Documents, names: Sequence[str]) -> npt.NDArray[np.int64]:
    """The output that the label of each document means.

    Labels are the names of outputs, in any case, or, where none is a name, the places of outputs.

    Raises:
        DataError: When a label means no output.
    """
    if documents.labels is None:
        raise DataError(f"{documents.name}: has no labels; pass --label-column with the column that has them")
    labels = [str(label) for label in documents.labels]
    table = {name: place for place, name in enumerate(names)}
    lowered = {name.lower(): place for place, name in enumerate(names)}
    if len(lowered) == len(table):
        table = {**{name: lowered[name.lower()] for name in labels if name.lower() in lowered}, **table}
    unknown = sorted({label for label in labels if label not in table})
    if len(unknown) == len(set(labels)) and all(label.isdecimal() and int(label) < len(names) for label in unknown):
        return np.array([int(label) for label in labels], dtype=np.int64)
    if unknown:
        raise DataError(
            f"{documents.name}: the label{'s' if len(unknown) > 1 else ''} {_shown(unknown)} "
            f"mean{'' if len(unknown) > 1 else 's'} no output of the model, which has {_shown(names)}; name its "
            "outputs in their order with --labels, choose another --label-column, or choose rows with --where"
        )
    return np.array([table[label] for label in labels], dtype=np.int64)


def _shown(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name[:40]}'" for name in names[:_SHOWN])
    return shown + (", …" if len(names) > _SHOWN else "")
