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
_SIDES = {
    "masker": "groups",
    "k_means": "k-means",
    "extended": "extended",
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
        lines += [f"**{summary['systems'][system]}**: {caption}", "", *table(_by_source(rows)), ""]
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
    body = []
    for place, rows in cases.items():
        cells = [
            " ".join(place),
            str(len(rows)),
            *(_mean([row[key] for row in rows], 1, 0) for key in ("classes", "groups")),
        ]
        for figure in ("accuracy", "nmi", "ari"):
            ours, theirs = ([row[who][figure] for row in rows] for who in ("masker", "k_means"))
            better, worse = (
                statistics.fmean(ours) > statistics.fmean(theirs),
                statistics.fmean(ours) < statistics.fmean(theirs),
            )
            cells.append(f"{_bold(_mean(ours), better)} / {_bold(_mean(theirs), worse)}")
        body.append(cells)
    header = ["trained on", "seeds", "classes", "groups found", "accuracy, %", "NMI, %", "ARI, %"]
    return markdown_table(header, body)


def _extended(cases: dict[tuple[str, ...], list[Row]]) -> list[str]:
    body = []
    for place, rows in cases.items():
        classes = f"{rows[0]['old_classes']} + {rows[0]['new_classes']}"
        cells = [" ".join(place), str(len(rows)), classes, _mean([row["processor_seconds"] for row in rows], 1)]
        for _, figure, sides in _EXTENDED:
            cells.append(" / ".join(_mean([row[side].get(figure) for row in rows]) for side in sides))
        body.append(cells)
    header = ["trained on", "seeds", "classes, first seed", "processor time, s"]
    return markdown_table([*header, *(heading for heading, _, _ in _EXTENDED)], body)


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


def _bold(text: str, wanted: bool) -> str:
    return f"**{text}**" if wanted else text


_TABLES = {
    "discover": ("groups that are found / k-means with the true number of classes.", _discovered),
    "extend": ("before / extended / retrained, or extended / retrained.", _extended),
    "review": ("labels for chosen / random texts.", _reviewed),
}
