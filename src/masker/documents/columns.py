"""Which columns of a table hold the text, the second text and the label."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from masker.config import DataSettings, Head
from masker.errors import DataError

_log = logging.getLogger("masker")

#: The line or number of a record, and its values by column.
Record = tuple[int, dict[str, Any]]
#: Picks the columns to read, given the names of all columns.
ChooseColumns = Callable[[Sequence[str]], Sequence[str]]

TEXT_COLUMNS = (
    "text", "sentence", "sentence1", "premise", "document", "content", "review",
    "utterance", "query", "question", "body", "message",
)  # fmt: skip
PAIR_COLUMNS = ("text_pair", "sentence2", "hypothesis")
LABEL_COLUMNS = ("label", "category", "intent", "class", "target", "score", "topic")
#: Holds lists of labels, in a table such as ``a;b``.
LABEL_LISTS = "labels"

#: How many names an error lists.
_SHOWN = 20


class Columns(NamedTuple):
    """The names of the columns that make up a row."""

    text: str
    pair: str | None
    label: str | None


def find_columns(
    names: Sequence[str],
    *,
    source: str,
    settings: DataSettings,
    require_labels: bool | None,
    label_role: str = "label",
    head: Head = "multi-class",
) -> Columns:
    """Choose the columns that the settings name, or else those with a usual name, ignoring case.

    ``label_role`` is what the label column is called in errors, as in ``--time-column``. Of a label and a list of
    labels, a multi-label ``head`` takes the list, and others the label.
    """

    def find(
        role: str, wanted: str | None, usual: Sequence[str], *, required: bool, taken: Sequence[str | None] = ()
    ) -> str | None:
        free = [name for name in names if name not in taken]
        for candidate in [wanted] if wanted else usual:
            if (name := match_column(free, candidate)) is not None:
                return name
        if not required:
            return None
        problem = f"has no column '{wanted}'" if wanted else f"cannot tell which column holds the {role}"
        raise DataError(
            f"{source}: {problem}; its columns are: {list_names(names)}; pass --{role}-column with one of them"
        )

    text = find("text", settings.text_column, TEXT_COLUMNS, required=True)
    pair = find("pair", settings.text_pair_column, PAIR_COLUMNS, required=bool(settings.text_pair_column), taken=[text])
    needs_label = bool(settings.label_column) if require_labels is None else require_labels
    usual = (LABEL_LISTS, *LABEL_COLUMNS) if head == "multi-label" else (*LABEL_COLUMNS, LABEL_LISTS)
    label = find(label_role, settings.label_column, usual, required=needs_label, taken=(text, pair))
    lists = match_column(names, LABEL_LISTS)
    if require_labels and lists is not None and label != lists and settings.label_column is None:
        _log.info(
            "%s: has columns '%s' and '%s'; reads '%s', one label for each text; pass --head multi-label to read all",
            *(source, label, lists, label),
        )
    return Columns(str(text), pair, label)


def match_column(names: Sequence[str], wanted: str) -> str | None:
    """The column called ``wanted``: an exact match, else the first that differs only in case."""
    if wanted in names:
        return wanted
    return next((name for name in names if name.lower() == wanted.lower()), None)


def list_names(names: Sequence[str]) -> str:
    """Names for an error message: the first few, long ones abbreviated."""
    shown = ", ".join(name if len(name) <= 40 else name[:37] + "..." for name in names[:_SHOWN])
    return shown + (", ..." if len(names) > _SHOWN else "")
