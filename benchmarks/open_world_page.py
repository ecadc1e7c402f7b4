"""The tables of docs/open-world.md, made from results/open_world.json and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

FIGURES = {"accuracy": "accuracy", "nmi": "NMI", "ari": "ARI"}


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _by_case(cells: dict[str, Any]) -> dict[tuple[str, str], list[Any]]:
    """The cells of all seeds, by corpus and share of known classes."""
    cases: dict[tuple[str, str], list[Any]] = {}
    for name, cell in cells.items():
        corpus, share, _ = name.rsplit(" ", 2)
        cases.setdefault((corpus, share), []).append(cell)
    return cases


def _mean(values: Iterable[float | None], digits: int = 1, scale: float = 100.0) -> str:
    known = [value for value in values if value is not None]
    return f"{scale * float(np.mean(known)):.{digits}f}" if known else "–"


def discover_table(results: dict[str, Any]) -> str:
    rows, won, total = [], 0, 0
    for (corpus, share), cells in _by_case(results["discover"]).items():
        row = [corpus, f"{100 * float(share):.0f} %", str(len(cells)), _mean((c["classes"] for c in cells), 0, 1)]
        row.append(_mean((c["groups"] for c in cells), 0, 1))
        for name in FIGURES:
            ours, theirs = ([c[who][name] for c in cells] for who in ("masker", "k_means"))
            better = float(np.mean(ours)) > float(np.mean(theirs))
            won, total = won + better, total + 1
            row.append(f"**{_mean(ours)}** / {_mean(theirs)}" if better else f"{_mean(ours)} / **{_mean(theirs)}**")
        rows.append(row)
    head = ["corpus", "known", "seeds", "classes", "groups found", *(f"{name}, %" for name in FIGURES.values())]
    summary = f"masker / k-means with the true number of classes. Above it: {won} of {total} figures."
    return f"{_table(head, rows)}\n{summary}\n"


def extend_table(results: dict[str, Any]) -> str:
    rows = []
    for (corpus, _), cells in sorted(_by_case(results["extend"]).items()):
        first = cells[0]
        row = [corpus, str(len(cells)), f"{first['old_classes']} + {first['new_classes']}"]
        row.append(_mean((c["seconds"] for c in cells), 1, 1))
        for figure, who in (
            ("accuracy_old", ("before", "extended", "retrained")),
            ("among_old", ("extended", "retrained")),
            ("accuracy_new", ("extended", "retrained")),
            ("rejected_known", ("before", "extended", "retrained")),
            ("rejected_old", ("extended", "retrained")),
            ("rejected_new", ("extended", "retrained")),
        ):
            row.append(" / ".join(_mean(c[one][figure] for c in cells) for one in who))
        rows.append(row)
    head = ["corpus", "seeds", "classes, first seed", "processor time, s", "old classes, %", "among old, %"]
    return _table([*head, "new classes, %", "false alarms, %", "of old classes, %", "of new classes, %"], rows)


def review_table(results: dict[str, Any]) -> str:
    rows = []
    for (corpus, _), cells in _by_case(results["review"]).items():
        before = [_mean(c["before"][name] for c in cells) for name in ("accuracy", "auroc")]
        rows.append([corpus, str(len(cells)), "0", *before])
        for budget in cells[0]["budgets"]:
            row = ["", "", budget]
            for name in ("accuracy", "auroc"):
                row.append(
                    " / ".join(_mean(c["budgets"][budget][who][name] for c in cells) for who in ("review", "random"))
                )
            rows.append(row)
    return _table(["corpus", "seeds", "labels", "accuracy: review / random, %", "AUROC: review / random, %"], rows)


#: What makes each table, and the parts of the results it needs.
TABLES = {
    "discover": (discover_table, ("discover",)),
    "extend": (extend_table, ("extend",)),
    "review": (review_table, ("review",)),
}
