"""The figures that the paper prints, by table and cell.

They are data in ``paper/*.json``, one file per table, named after the paper's labels (``ood_main`` for example). If two
tables print different numbers for the same cell, both are kept, and each has a note about the other.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from masker.errors import ConfigError, did_you_mean

#: What identifies a cell. A number that the paper prints once for several cells (a classification accuracy beside five
#: OOD sets, a baseline without an encoder) omits the keys that it does not depend on.
KEYS = ("train", "ratio", "test", "backbone", "system", "metric")
Key = str | int


@dataclass(frozen=True)
class PaperNumber:
    """One printed number, in percent."""

    table: str
    cell: dict[str, Key]  # a subset of KEYS
    mean: float
    deviation: float | None = None  # standard deviation over trials, if the table has it
    relative_gain: float | None = None  # of MASKER over vanilla, in percent of the latter, if the table has it
    note: str | None = None  # what is odd about the number


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
    """Read one table."""
    known = paper_tables()
    if name not in known:
        raise ConfigError(f"the paper has no table '{name}'; known: {', '.join(known)}.{did_you_mean(name, known)}")
    content = json.loads((files(__package__) / "paper" / f"{name}.json").read_text(encoding="utf-8"))
    numbers = []
    for row in content["numbers"]:
        extras = {key: row.get(key) for key in ("deviation", "relative_gain", "note")}
        numbers.append(PaperNumber(name, {key: row[key] for key in KEYS if key in row}, float(row["mean"]), **extras))
    return PaperTable(name, content["title"], content["unit"], content["note"], tuple(numbers))


def find_number(tables: Sequence[str], **cell: Key | None) -> PaperNumber | None:
    """The number printed for a cell, from the first of ``tables`` that has one.

    A cell is ``train="Newsgroup", test="Reuters", backbone="BERT", system="masker", metric="auroc"``, and ``ratio`` for
    the percentage of known classes. A number matches if every key it has is given here with the same value.
    """
    unknown = set(cell) - set(KEYS)
    if unknown:
        raise ConfigError(f"a cell is identified by {', '.join(KEYS)}; got {', '.join(sorted(unknown))}")
    for name in tables:
        for number in paper_table(name).numbers:
            if all(cell.get(key) == value for key, value in number.cell.items()):
                return number
    return None
