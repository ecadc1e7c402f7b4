"""Paired comparisons within the parts of the analysis ``open-world``: each command against what is done without it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Any

from masker.experiments.comparison import compare_paired

Row = dict[str, Any]

#: For each part: what is compared with what, and in which figure.
COMPARED = {
    "discover": [("masker", "k_means", figure) for figure in ("accuracy", "nmi", "ari")],
    "extend": [
        ("extended", "before", "accuracy_old"),
        *(("extended", "retrained", figure) for figure in ("accuracy_old", "accuracy_new", "auroc")),
    ],
    "review": [("review", "random", figure) for figure in ("accuracy", "auroc")],
}


def compare_parts(rows: Iterable[Row], chosen_on: Container[int] = ()) -> list[Row]:
    """Compare over all rows of a system, but for seeds that something was chosen on.

    A unit is a model of known classes; the budgets of a review are its cells.
    """
    by_system: dict[str, list[Row]] = {}
    for row in rows:
        if row["seed"] not in chosen_on:
            by_system.setdefault(row["system"], []).append(row)
    found = []
    for system, own in by_system.items():
        for ours, theirs, figure in COMPARED[own[0]["part"]]:
            sides: dict[str, dict[tuple[Any, Any], float]] = {ours: {}, theirs: {}}
            for row in own:
                unit = (row["train"], row["model"], row["seed"])
                for cell, measured in _cells(row):
                    for side, values in sides.items():
                        if measured[side].get(figure) is not None:
                            values[unit, cell] = 100.0 * measured[side][figure]
            outcome = compare_paired(sides[ours], sides[theirs])
            if outcome is not None:
                place = {"system": system, "ours": ours, "theirs": theirs, "metric": figure}
                found.append({**place, **outcome.rounded()})
    return found


def _cells(row: Row) -> Iterator[tuple[str, Row]]:
    """What is compared in one row: each budget of a review, else the row itself."""
    yield from row["budgets"].items() if row["part"] == "review" else [("", row)]
