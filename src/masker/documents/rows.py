"""From raw records to rows, and from rows to documents, refusing or skipping what is invalid."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, cast

from masker.config import DataSettings, Head
from masker.documents.columns import LABEL_LISTS, PAIR_COLUMNS, Columns, Record
from masker.documents.document_set import Documents
from masker.documents.texts import Text, split_pairs, well_formed
from masker.errors import DataError, NoRowsError
from masker.labels import as_class_name, as_label_list, as_number, is_missing, plain_label

_log = logging.getLogger("masker")

#: How many line numbers an error lists.
_SHOWN = 5


class Row(NamedTuple):
    """One row: texts are strings, the label is still raw.

    ``line`` is the line the row starts on, or its number, from 1, where a source has no lines (Parquet, JSON arrays,
    hub data sets).
    """

    text: str
    pair: str | None
    label: object
    line: int

    @property
    def content(self) -> Text:
        """The text, or the pair of texts, as models take it."""
        return self.text if self.pair is None else (self.text, self.pair)

    @property
    def is_blank(self) -> bool:
        """Whether the text, or the second text of a pair, is blank."""
        return not self.text.strip() or (self.pair is not None and not self.pair.strip())


def records_to_rows(
    records: Iterable[Record],
    find: Callable[[Sequence[str]], Columns],
    source: str,
    *,
    lists: bool | None = None,
) -> Iterator[Row]:
    """Turn records into rows; ``find`` chooses the columns, given those of the first record.

    ``lists`` says whether the labels are lists, which a cell writes as ``a;b``; ``None``: if the column says so.
    """
    columns: Columns | None = None
    names: set[str] = set()
    for line, record in records:
        if columns is None:
            columns = find(list(record))
            names = set(record)
        elif columns.pair is None and any(key.lower() in PAIR_COLUMNS for key in record.keys() - names):
            raise DataError(
                f"{source}: line {line} has a second text, but the first row has none; give all rows one or none"
            )
        text, pair, label = columns
        value = None if label is None else record.get(label)
        if label is not None and (label.lower() == LABEL_LISTS if lists is None else lists):
            value = _as_list(value, label, line, source)
        yield Row(
            _as_text(record.get(text), text, line, source),
            None if pair is None else _as_text(record.get(pair), pair, line, source),
            value,
            line,
        )
    if columns is None:
        raise NoRowsError(f"{source}: has no rows; give a source with at least one document")


def texts_to_rows(texts: Sequence[Text], labels: Sequence[object]) -> Iterator[Row]:
    """Rows of texts, or of (text, text_pair) tuples, and their labels; lines count from 1."""
    first, pairs = split_pairs(texts)
    seconds: list[str] | list[None] = [None] * len(first) if pairs is None else pairs
    return map(Row, first, seconds, map(plain_label, labels), range(1, len(first) + 1))


def collect_documents(
    rows: Iterable[Row],
    settings: DataSettings,
    *,
    name: str,
    require_labels: bool | None,
    head: Head = "multi-class",
) -> Documents:
    """Collect rows into documents, refusing invalid ones or, with ``settings.skip_invalid``, leaving them out.

    A row is invalid if its text or second text is blank, or if a required label is missing or unusable. Reading stops
    after ``settings.limit`` valid rows. ``require_labels`` says whether every row needs a label; ``None``: if any row
    has one. If False, labels are kept only if every row has a usable one.

    Labels are finite numbers for a regression, and lists of class names for a multi-label ``head``. For others they are
    class names, or lists if a row has none or several.
    """
    kept: list[Row] = []
    blank: list[int] = []
    unlabelled: list[int] = []
    labelled = 0
    for row in rows:
        label = _usable_label(row.label, head)
        if row.is_blank:
            blank.append(row.line)
        elif require_labels and label is None:
            if not (settings.skip_invalid or is_missing(row.label)):
                raise DataError(_bad_label(name, row, head))
            unlabelled.append(row.line)
        else:
            kept.append(row._replace(label=label))
            labelled += label is not None
        # Once any row has a label, rows without one do not count; they are dropped below.
        if (labelled if require_labels is None and labelled else len(kept)) == settings.limit:
            break
    if require_labels is None and labelled:
        unlabelled = [row.line for row in kept if row.label is None]
        kept = [row for row in kept if row.label is not None]
    if not settings.skip_invalid:
        _refuse_invalid(name, blank, unlabelled)
    skipped = len(blank) + len(unlabelled)
    if not kept:
        raise DataError(f"{name}: no valid row is left; all {skipped} have an empty text or no usable label")
    pairs = [row.pair for row in kept if row.pair is not None]
    labels = None if any(row.label is None for row in kept) else _in_one_form(kept, name, head)
    return Documents([row.text for row in kept], pairs or None, labels, name, skipped)


def _usable_label(label: object, head: Head) -> object:
    """A number, a list of class names or a class name; ``None`` if it is missing or not usable."""
    if head == "regression":
        return as_number(label)
    return as_label_list(label) if head == "multi-label" or isinstance(label, (list, tuple)) else as_class_name(label)


def _in_one_form(rows: list[Row], name: str, head: Head) -> list[str] | list[float] | list[list[str]]:
    """The labels of rows that all have one: lists of one class each are classes, unless several are asked for."""
    lists = [row for row in rows if isinstance(row.label, list)]
    if lists and len(lists) < len(rows):
        other = next(row for row in rows if not isinstance(row.label, list))
        raise DataError(
            f"{name}: line {lists[0].line} has a list of labels, and line {other.line} a single one; write lists in "
            "all rows, in a column 'labels'"
        )
    labels: list[object] = [row.label for row in rows]
    if lists and head != "multi-label" and all(len(cast("list[str]", label)) == 1 for label in labels):
        _log.info("%s: every list has one label, so they are read as classes; --head multi-label allows several", name)
        labels = [cast("list[str]", label)[0] for label in labels]
    return cast("list[str] | list[float] | list[list[str]]", labels)


def _as_list(value: object, column: str, line: int, source: str) -> object:
    """The raw list in a cell: ``a;b`` has two labels, an empty cell none, a number is one; what is missing stays so."""
    if isinstance(value, str):
        if value.strip().startswith("["):
            raise DataError(
                f"{source}: column '{column}' at line {line} must hold labels as a;b; got "
                f"{_shortened(value)}; write it so, or give JSON Lines with lists"
            )
        return [part for part in value.split(";") if part.strip()]
    return value if is_missing(value) or isinstance(value, (list, tuple)) else [value]


def _as_text(value: object, column: str, line: int, source: str) -> str:
    """The text of a cell: numbers are written out, missing values become the empty string."""
    if isinstance(value, str):
        return well_formed(value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, (int, float)):
        return str(value)
    kind = type(value).__name__
    raise DataError(
        f"{source}: column '{column}' must hold strings; got a {kind} at line {line}; choose another column"
    )


def _shortened(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _bad_label(name: str, row: Row, head: Head) -> str:
    allowed = "a list of strings or numbers" if isinstance(row.label, (list, tuple)) else "a string or number"
    allowed = {"regression": "a finite number", "multi-label": "a list of labels"}.get(head, allowed)
    return (
        f"{name}: the label at line {row.line} must be {allowed}; got {_shortened(row.label)}; "
        "fix it, choose another --label-column or pass --skip-invalid"
    )


def _refuse_invalid(name: str, blank: list[int], unlabelled: list[int]) -> None:
    for lines, problem in ((blank, "an empty text"), (unlabelled, "no label")):
        if lines:
            count = "1 row has" if len(lines) == 1 else f"{len(lines)} rows have"
            numbers = ", ".join(map(str, lines[:_SHOWN])) + (", ..." if len(lines) > _SHOWN else "")
            raise DataError(f"{name}: {count} {problem} (line {numbers}); fix them or pass --skip-invalid")
