"""Rows selected by the value of a column, such as the genre of a pair, in any source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from masker.documents.columns import Record, list_names, match_column
from masker.errors import ConfigError, DataError, NoRowsError, did_you_mean
from masker.labels import as_class_name

_Where = Mapping[str, Sequence[str]]


def parse_where(conditions: Iterable[str]) -> dict[str, list[str]] | None:
    """Parse ``["genre=telephone,letters"]`` into ``{"genre": ["telephone", "letters"]}``; no conditions give None."""
    where: dict[str, list[str]] = {}
    for condition in conditions:
        column, equals, values = condition.partition("=")
        wanted = [value.strip() for value in values.split(",")]
        if not equals or not column.strip() or not all(wanted):
            raise ConfigError(f"--where takes COLUMN=VALUE[,VALUE...], such as genre=telephone; got '{condition}'")
        where.setdefault(column.strip(), []).extend(wanted)
    return where or None


def describe_where(where: _Where | None) -> str:
    """The suffix a filter adds to the name of a source."""
    conditions = "; ".join(f"{column}={','.join(values)}" for column, values in (where or {}).items())
    return f" ({conditions})" if conditions else ""


def columns_to_filter(names: Sequence[str], where: _Where, source: str) -> list[str]:
    """The columns that a filter refers to, in its order, ignoring case."""
    columns = []
    for wanted in where:
        column = match_column(names, wanted)
        if column is None:
            raise DataError(
                f"{source}: has no column '{wanted}' to filter by; its columns are: {list_names(names)}."
                f"{did_you_mean(wanted, names)}"
            )
        columns.append(column)
    return columns


def matching_records(
    records: Iterable[Record], where: _Where, source: str, *, every_value: bool = True
) -> Iterator[Record]:
    """Yield the records that have one of the wanted values in every column of ``where``.

    If none matched or, with ``every_value``, a value never occurred, raise NoRowsError at the end.
    """
    tests: list[tuple[str, str, set[str]]] = []
    seen: dict[str, set[str]] = {wanted: set() for wanted in where}
    found = 0
    for line, record in records:
        if not tests:
            columns = columns_to_filter(list(record), where, source)
            tests = [(wanted, column, set(where[wanted])) for wanted, column in zip(where, columns, strict=True)]
        matches = True
        for wanted, column, values in tests:
            value = as_class_name(record.get(column))
            matches = matches and value in values
            # For the error message; a column may have ten million different values.
            if value is not None and (value in values or len(seen[wanted]) < 1000):
                seen[wanted].add(value)
        if matches:
            found += 1
            yield line, record
    # Empty sources are reported elsewhere.
    if not tests or (found and not every_value):
        return
    for wanted, column, values in tests:
        for value in where[wanted]:
            if value not in seen[wanted]:
                there = list_names(sorted(seen[wanted])) or "none, all its cells are empty"
                raise NoRowsError(
                    f"{source}: no row has the value '{value}' in column '{column}'; its values are: {there}."
                    f"{did_you_mean(value, seen[wanted] - values)}"
                )
    if not found:
        raise NoRowsError(f"{source}: no row meets all conditions{describe_where(where)}; drop one of them")
