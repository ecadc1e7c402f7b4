"""Rows chosen by the value of a column, such as the genre of a pair, for any source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from masker.errors import ConfigError, DataError, NoRowsError, did_you_mean
from masker.labels import as_class_name

#: How many values or columns an error lists.
_SHOWN = 20

_Where = Mapping[str, Sequence[str]]


def parse_where(conditions: Iterable[str]) -> dict[str, list[str]] | None:
    """Turn ``["genre=telephone,letters"]`` into ``{"genre": ["telephone", "letters"]}``, and nothing into None.

    Raises:
        ConfigError: If a condition is of another form.
    """
    where: dict[str, list[str]] = {}
    for condition in conditions:
        column, equals, values = condition.partition("=")
        wanted = [value.strip() for value in values.split(",")]
        if not equals or not column.strip() or not all(wanted):
            raise ConfigError(f"--where takes COLUMN=VALUE[,VALUE...], such as genre=telephone; got '{condition}'")
        where.setdefault(column.strip(), []).extend(wanted)
    return where or None


def describe_where(where: _Where | None) -> str:
    """What a filter adds to the name of a source."""
    conditions = "; ".join(f"{column}={','.join(values)}" for column, values in (where or {}).items())
    return f" ({conditions})" if conditions else ""


def columns_to_filter(names: Sequence[str], where: _Where, source: str) -> list[str]:
    """The columns of a source that a filter speaks of, in its order; upper and lower case are the same.

    Raises:
        DataError: If the source does not have one of them.
    """
    columns = []
    for wanted in where:
        # An exact match comes before one in another case.
        found = [name for name in sorted(names, key=lambda name: name != wanted) if name.lower() == wanted.lower()]
        if not found:
            raise DataError(
                f"{source}: has no column '{wanted}' to choose rows by; its columns are: {_list(names)}."
                f"{did_you_mean(wanted, names)}"
            )
        columns.append(found[0])
    return columns


def matching_records(
    records: Iterable[tuple[int, dict[str, Any]]], where: _Where, source: str, *, every_value: bool = True
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the records that have, in every column of ``where``, one of its values.

    Raises:
        DataError: If the source lacks a column.
        NoRowsError: Once it is read to its end: if it has no matching record, or, with ``every_value``, lacks a value.
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
            # Enough to list; a column of ten million different values need not be remembered.
            if value is not None and (value in values or len(seen[wanted]) < 1000):
                seen[wanted].add(value)
        if matches:
            found += 1
            yield line, record
    if not tests:
        return  # an empty source has an error of its own
    if found and not every_value:
        return
    for wanted, column, values in tests:
        for value in where[wanted]:
            if value not in seen[wanted]:
                there = _list(sorted(seen[wanted])) or "none, all its cells are empty"
                raise NoRowsError(
                    f"{source}: no row has the value '{value}' in column '{column}'; its values are: {there}."
                    f"{did_you_mean(value, seen[wanted] - values)}"
                )
    if not found:
        raise NoRowsError(f"{source}: no row meets all of{describe_where(where)}; leave one of them out")


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(name if len(name) <= 40 else name[:37] + "..." for name in names[:_SHOWN])
    return shown + (", ..." if len(names) > _SHOWN else "")
