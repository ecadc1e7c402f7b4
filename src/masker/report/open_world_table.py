"""The analysis ``open-world`` as Markdown: a table for each of its systems, and the paired comparisons."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from masker.report.markdown import markdown_table
from masker.report.verdict import verdict

Row = dict[str, Any]

_FIGURES = {
    "accuracy": "accuracy",
    "nmi": "NMI",
    "ari": "ARI",
    "auroc": "AUROC",
    "accuracy_old": "accuracy on old classes",
    "accuracy_new": "accuracy on new classes",
}
_CLUSTERING = ("accuracy", "nmi", "ari")
_SIDES = {
    "masker": "groups",
    "k_means": "k-means",
    "extended": "extended",
    "before": "the model before",
    "retrained": "retrained",
    "review": "chosen texts",
    "random": "random texts",
}
_ALL, _LATER = ("before", "extended", "retrained"), ("extended", "retrained")
#: Columns of the table of ``extend``: heading, figure, and whose.
_EXTENDED = (
    ("old classes, %", "accuracy_old", _ALL),
    ("among old, %", "among_old", _LATER),
    ("new classes, %", "accuracy_new", _LATER),
    ("false alarms, %", "rejected_known", _ALL),
    ("of old classes, %", "rejected_old", _LATER),
    ("of new classes, %", "rejected_new", _LATER),
    ("foreign rejected, %", "rejected_foreign", _ALL),
    ("AUROC, foreign, %", "auroc", _ALL),
)


def open_world_lines(summary: dict[str, Any]) -> list[str]:
    """Markdown for all systems of the analysis, means over seeds."""
    lines: list[str] = []
    for system in dict.fromkeys(row["system"] for row in summary["analysis"]):
        rows = [row for row in summary["analysis"] if row["system"] == system]
        caption, table = _TABLES[rows[0]["part"]]
        title = str(summary["systems"][system])
        lines += [f"**{title[:1].upper()}{title[1:]}**: {caption}", "", *table(_by_source(rows)), ""]
        compared = [row for row in summary.get("comparisons", []) if row["system"] == system]
        lines += [*(f"- {_sentence(row)}" for row in compared), ""] if compared else []
    return lines[:-1]


def _by_source(rows: Iterable[Row]) -> dict[tuple[str, ...], list[Row]]:
    """The rows of all seeds; the encoder is named if there are several."""
    cases: dict[tuple[str, ...], list[Row]] = {}
    kept = list(rows)
    several = len({row["model"] for row in kept}) > 1
    for row in kept:
        cases.setdefault((row["train"], *([row["model"]] if several else [])), []).append(row)
    return cases


def _discovered(cases: dict[tuple[str, ...], list[Row]]) -> list[str]:
    body, won = [], 0
    for place, rows in cases.items():
        counts = (_mean([row[key] for row in rows], 1, 0) for key in ("classes", "groups"))
        cells = [" ".join(place), str(len(rows)), *counts]
        for figure in _CLUSTERING:
            sides = [[row[who][figure] for row in rows] for who in ("masker", "k_means")]
            ours, theirs = map(statistics.fmean, sides)
            won += ours > theirs
            shown = [
                f"**{_mean(side)}**" if best else _mean(side)
                for side, best in zip(sides, (ours > theirs, ours < theirs), strict=True)
            ]
            cells.append(" / ".join(shown))
        body.append(cells)
    header = ["trained on", "seeds", "classes", "groups found", *(f"{_FIGURES[name]}, %" for name in _CLUSTERING)]
    count = f"Above k-means: {won} of {len(_CLUSTERING) * len(body)} figures."
    return [*markdown_table(header, body), "", count]


def _extended(cases: dict[tuple[str, ...], list[Row]]) -> list[str]:
    every = [row for rows in cases.values() for row in rows]
    # Figures that came before foreign texts were measured have no column for them.
    columns = [one for one in _EXTENDED if any(row["extended"].get(one[1]) is not None for row in every)]
    body = []
    for place, rows in cases.items():
        classes = f"{rows[0]['old_classes']} + {rows[0]['new_classes']}"
        cells = [" ".join(place), str(len(rows)), classes, _mean([row["processor_seconds"] for row in rows], 1)]
        for _, figure, sides in columns:
            cells.append(" / ".join(_mean([row[side].get(figure) for row in rows]) for side in sides))
        body.append(cells)
    header = ["trained on", "seeds", "classes, first seed", "processor time, s"]
    return markdown_table([*header, *(heading for heading, _, _ in columns)], body)


def _reviewed(cases: dict[tuple[str, ...], list[Row]]) -> list[str]:
    body = []
    for place, rows in cases.items():
        before = [_mean([row["before"][figure] for row in rows]) for figure in ("accuracy", "auroc")]
        body.append([" ".join(place), str(len(rows)), "0", *before])
        for budget in rows[0]["budgets"]:
            measured = [row["budgets"][budget] for row in rows if budget in row["budgets"]]
            cells = [
                " / ".join(_mean([one[side][figure] for one in measured]) for side in ("review", "random"))
                for figure in ("accuracy", "auroc")
            ]
            body.append(["", "", budget, *cells])
    return markdown_table(["trained on", "seeds", "labels", "accuracy, %", "AUROC, %"], body)


def _sentence(row: Row) -> str:
    ours, theirs = _SIDES[row["ours"]], _SIDES[row["theirs"]]
    found = (
        f"**{ours} against {theirs}, {_FIGURES[row['metric']]}:** better in {row['wins']} of {row['cells']} cells, "
        f"{row['difference']:+.1f} points on average over {row['units']} {'model' if row['units'] == 1 else 'models'}"
    )
    return f"{found}; {verdict(row, better=f'{ours} better', worse=f'{ours} worse')}."


def _mean(values: Sequence[float | None], scale: float = 100.0, digits: int = 1) -> str:
    known = [value for value in values if value is not None]
    return f"{scale * statistics.fmean(known):.{digits}f}" if known else "–"


_TABLES = {
    "discover": ("groups that are found / k-means with the true number of classes.", _discovered),
    "extend": ("before / extended / retrained, or extended / retrained.", _extended),
    "review": ("labels for chosen / random texts.", _reviewed),
}
