"""Documents: texts, optional second texts and labels, and the rules by which raw rows become them."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple, cast

from masker.config import DataSettings
from masker.errors import DataError
from masker.labels import as_class_name

#: How many line numbers or class names an error names before it stops.
_SHOWN = 5

TEXT_COLUMNS = (
    "text", "sentence", "sentence1", "premise", "document", "content", "review",
    "utterance", "query", "question", "body", "message",
)  # fmt: skip
PAIR_COLUMNS = ("text_pair", "sentence2", "hypothesis")
LABEL_COLUMNS = ("label", "category", "intent", "class", "target", "score", "topic")


class Columns(NamedTuple):
    """The columns of a table that rows are made of."""

    text: str
    pair: str | None
    label: str | None

    def present(self) -> list[str]:
        """The names of the columns that are there."""
        return [name for name in self if name is not None]


class Row(NamedTuple):
    """One row as it was read: texts are strings, the label is still raw.

    ``line`` is the line the row begins on, or its number counted from 1 where the source has no lines (Parquet, JSON
    arrays, data sets of the hub).
    """

    text: str
    pair: str | None
    label: object
    line: int


@dataclass(frozen=True)
class Documents:
    """A set of documents held in memory.

    Attributes:
        texts: One text a document.
        pairs: The second text of each document (premise and hypothesis, say), or None for single texts.
        labels: Class names, or scores for regression, or None when there are no labels.
        name: Where the documents came from, for messages and provenance.
        skipped: How many invalid rows of the source were left out on the user's wish.
    """

    texts: list[str]
    pairs: list[str] | None
    labels: list[str] | list[float] | None
    name: str
    skipped: int = 0

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def class_names(self) -> list[str]:
        """The distinct class names, sorted; empty when labels are scores or absent."""
        return sorted({label for label in self.labels or [] if isinstance(label, str)})

    def take(self, indices: Sequence[int]) -> Documents:
        """Return the documents at ``indices``, in that order."""
        labels = None if self.labels is None else [self.labels[i] for i in indices]
        return replace(
            self,
            texts=[self.texts[i] for i in indices],
            pairs=None if self.pairs is None else [self.pairs[i] for i in indices],
            labels=cast("list[str] | list[float] | None", labels),
        )

    def fingerprint(self) -> str:
        """Return a sha256 over texts, pairs and labels; the same content gives the same value on every machine."""
        digest = hashlib.sha256()
        for i, text in enumerate(self.texts):
            pair = None if self.pairs is None else self.pairs[i]
            label = None if self.labels is None else self.labels[i]
            # A JSON line keeps the fields apart, so that moving a word from text to pair changes the value.
            digest.update(json.dumps([text, pair, label]).encode("ascii") + b"\n")
        return digest.hexdigest()


def find_columns(names: Sequence[str], *, source: str, settings: DataSettings, require_labels: bool | None) -> Columns:
    """Choose the text, pair and label columns: those the settings name, else the first usual name, in any case.

    Raises:
        DataError: If a column that is needed is not among ``names``.
    """

    def find(option: str, wanted: str | None, usual: tuple[str, ...], taken: Sequence[str | None]) -> str | None:
        free = [name for name in names if name not in taken]
        for candidate in (wanted,) if wanted else usual:
            # An exact match comes before one in another case.
            for name in sorted(free, key=lambda name: name != candidate):
                if name.lower() == candidate.lower():
                    return name
        # ``require_labels`` is None: labels are wanted if there are any, so a column that is named has to be there.
        optional = not (require_labels or (require_labels is None and wanted))
        if (option == "--label-column" and optional) or (option == "--pair-column" and not wanted):
            return None
        there = ", ".join(name if len(name) <= 40 else name[:37] + "..." for name in names[:20])
        there += ", ..." if len(names) > 20 else ""
        missing = f"column '{wanted}'" if wanted else f"{option[2:].replace('-', ' ')} that can be told by its name"
        raise DataError(f"{source}: has no {missing}; its columns are: {there}; pass {option} with one of them")

    text = find("--text-column", settings.text_column, TEXT_COLUMNS, ())
    pair = find("--pair-column", settings.text_pair_column, PAIR_COLUMNS, (text,))
    label = find("--label-column", settings.label_column, LABEL_COLUMNS, (text, pair))
    return Columns(str(text), pair, label)


def as_text(value: object, *, column: str, line: int, source: str) -> str:
    """Turn a cell into a text: numbers are written out, missing values become the empty string.

    Raises:
        DataError: If the cell holds a list, an object or bytes.
    """
    if isinstance(value, str):
        # JSON can carry half a surrogate pair, which no tokenizer accepts.
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, (int, float)):
        return str(value)
    kind = type(value).__name__
    raise DataError(
        f"{source}: column '{column}' must hold strings; got a {kind} at line {line}; choose another column"
    )


def collect_documents(
    rows: Iterable[Row], settings: DataSettings, *, name: str, require_labels: bool | None, numeric_labels: bool = False
) -> Documents:
    """Gather rows into documents, refusing or (``settings.skip_invalid``) leaving out the invalid ones.

    A row is invalid when its text or second text is blank, or when a label is required and missing or unusable.
    Reading stops once ``settings.limit`` valid rows are there.

    Args:
        rows: The rows, usually from :func:`masker.documents.stream_rows`.
        settings: ``limit`` and ``skip_invalid`` are used.
        name: What to call the source in messages.
        require_labels: Whether rows without a label are invalid; ``None``: if any row has one. Labels that are not
            required are kept only if every row has a usable one.
        numeric_labels: Labels are finite numbers (regression) rather than class names.

    Raises:
        DataError: If a row is invalid and may not be skipped, or no valid row is left.
    """
    texts: list[str] = []
    pairs: list[str] = []
    labels: list[str | float | None] = []
    lines: list[int] = []
    blank: list[int] = []
    unlabelled: list[int] = []
    labelled = 0
    for row in rows:
        label = _score(row.label) if numeric_labels else as_class_name(row.label)
        if not row.text.strip() or (row.pair is not None and not row.pair.strip()):
            blank.append(row.line)
        elif require_labels and label is None:
            if not (settings.skip_invalid or _is_missing(row.label)):
                raise DataError(_bad_label(name, row, numeric_labels))
            unlabelled.append(row.line)
        else:
            texts.append(row.text)
            labels.append(label)
            labelled += label is not None
            lines.append(row.line)
            if row.pair is not None:
                pairs.append(row.pair)
        # Where labels turn up, rows without one are left out below.
        if (labelled if require_labels is None and labelled else len(texts)) == settings.limit:
            break
    if require_labels is None and labelled:
        kept = [place for place, label in enumerate(labels) if label is not None]
        unlabelled = [lines[place] for place, label in enumerate(labels) if label is None]
        texts, labels = [texts[place] for place in kept], [labels[place] for place in kept]
        pairs = [pairs[place] for place in kept] if pairs else pairs
    if not settings.skip_invalid:
        for places, what in ((blank, "an empty text"), (unlabelled, "no label")):
            if places:
                raise DataError(f"{name}: {_count(places)} {what} ({_at(places)}); fix them or pass --skip-invalid")
    skipped = len(blank) + len(unlabelled)
    if not texts:
        raise DataError(f"{name}: no valid row is left: all {skipped} have an empty text or no usable label")
    return Documents(
        texts=texts,
        pairs=pairs or None,
        labels=None if None in labels else cast("list[str] | list[float]", labels),
        name=name,
        skipped=skipped,
    )


def check_classes(documents: Documents) -> None:
    """Refuse labels that no classifier can be trained on.

    Raises:
        DataError: If there are no class labels, only one class, or labels that look like the scores of a regression.
    """
    classes = documents.class_names
    if not classes:
        raise DataError(f"{documents.name}: has no class labels; pass --label-column with the column that has them")
    if len(classes) == 1:
        raise DataError(
            f"{documents.name}: all {len(documents)} documents have the label '{classes[0]}'; a classifier needs at "
            "least two classes, so add documents of another one or choose another --label-column"
        )
    many = len(classes) > 20 and len(classes) > len(documents) / 2
    if many and all(_score(name) is not None for name in classes):
        raise DataError(
            f"{documents.name}: {len(classes)} different numbers as labels of {len(documents)} documents look like "
            "scores, not classes; pass --head regression or choose another --label-column"
        )


def _score(value: object) -> float | None:
    """The finite number a raw label stands for, or None when it stands for none."""
    # bool is an int and "1_0" is a float to Python, but neither is a score anyone wrote on purpose.
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal)):
        return None
    if isinstance(value, str) and "_" in value:
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _is_missing(value: object) -> bool:
    if isinstance(value, str):
        return not value.strip() or value.strip().lower() == "nan"
    return value is None or (isinstance(value, (float, Decimal)) and math.isnan(value))


def _bad_label(name: str, row: Row, numeric: bool) -> str:
    shown = repr(row.label)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    if numeric:
        return (
            f"{name}: the label at line {row.line} must be a finite number; got {shown}; fix it or pass --skip-invalid"
        )
    return (
        f"{name}: the label at line {row.line} must be one string or number; got {shown}; "
        "choose another --label-column or pass --skip-invalid"
    )


def _count(lines: list[int]) -> str:
    return "1 row has" if len(lines) == 1 else f"{len(lines)} rows have"


def _at(lines: list[int]) -> str:
    numbers = ", ".join(str(line) for line in lines[:_SHOWN])
    return f"line {numbers}" + (", ..." if len(lines) > _SHOWN else "")
