"""The figures that the paper prints, by table and cell.

They lie as data in ``paper/*.json``, one file a table, named after the paper's labels (``ood_main`` for one).
Where two tables print different numbers for one cell, both are kept and each carries a note about the other.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from masker.errors import ConfigError, did_you_mean

#: What a cell is told by. A number that the paper prints once for several cells (a classification accuracy beside five
#: OOD sets, a baseline without an encoder) leaves out the keys that it does not depend on.
KEYS = ("train", "ratio", "test", "backbone", "system", "metric")
Key = str | int


@dataclass(frozen=True)
class PaperNumber:
    """One printed number, in percent.

    Attributes:
        table: The table it stands in.
        cell: The keys that tell its place, a part of :data:`KEYS`.
        mean: The number.
        deviation: Standard deviation over trials, where the table has it.
        relative_gain: Printed gain of MASKER over vanilla in percent of the latter, where the table has it.
        note: What is odd about the number.
    """

    table: str
    cell: dict[str, Key]
    mean: float
    deviation: float | None = None
    relative_gain: float | None = None
    note: str | None = None


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper."""

    name: str
    title: str
    unit: str
    note: str
    numbers: tuple[PaperNumber, ...]


def paper_tables() -> list[str]:
    """The names of all tables."""
    return sorted(entry.name.removesuffix(".json") for entry in (files(__package__) / "paper").iterdir())


@cache
def paper_table(name: str) -> PaperTable:
    """Read one table.

    Raises:
        ConfigError: When the paper has no table of that name.
    """
    known = paper_tables()
    if name not in known:
        raise ConfigError(f"the paper has no table '{name}'; known: {', '.join(known)}.{did_you_mean(name, known)}")
    content = json.loads((files(__package__) / "paper" / f"{name}.json").read_text(encoding="utf-8"))
    numbers = tuple(
        PaperNumber(
            name,
            {key: row[key] for key in KEYS if key in row},
            float(row["mean"]),
            row.get("deviation"),
            row.get("relative_gain"),
            row.get("note"),
        )
        for row in content["numbers"]
    )
    return PaperTable(name, content["title"], content["unit"], content["note"], numbers)


def find_number(tables: Sequence[str], **cell: Key | None) -> PaperNumber | None:
    """The number that the first of ``tables`` to have one prints for a cell.

    Args:
        tables: Names of tables, the preferred one first.
        cell: ``train="Newsgroup", test="Reuters", backbone="BERT", system="masker", metric="auroc"``, and ``ratio`` for
            the percentage of known classes. A number fits when every key it has is given here with the same value.

    Returns:
        The number, or ``None`` when no table has the cell.
    """
    unknown = set(cell) - set(KEYS)
    if unknown:
        raise ConfigError(f"a cell is told by {', '.join(KEYS)}; got {', '.join(sorted(unknown))}")
    for name in tables:
        for number in paper_table(name).numbers:
            if all(cell.get(key) == value for key, value in number.cell.items()):
                return number
    return None
