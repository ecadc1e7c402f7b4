"""Analyses, most of them figures of the paper, as Markdown tables."""

from __future__ import annotations

from typing import Any

from masker.report.markdown import markdown_table
from masker.report.open_world_table import open_world_lines
from masker.report.reliance_table import reliance_lines

#: Keywords shown in a list.
_SHOWN = 10


def analysis_lines(summary: dict[str, Any]) -> list[str]:
    """Markdown for the analyses of a summary."""
    rows = summary["analysis"]
    if "rates" in rows[0]:
        return [line for row in rows for line in (*_rates(row), "")][:-1]
    if "audits" in rows[0]:
        return reliance_lines(summary)
    if "part" in rows[0]:
        return open_world_lines(summary)
    if "silhouette" in rows[0]:
        return _silhouettes(rows, summary["systems"])
    if "words" in rows[0]:
        return _attended(rows, summary["systems"])
    return _keywords(rows, summary["systems"])


def _keywords(rows: list[dict[str, Any]], systems: dict[str, str]) -> list[str]:
    body = [[row["train"], systems[row["system"]], _words(row["keywords"][:_SHOWN])] for row in rows]
    return markdown_table(["trained on", "scheme", f"top {_SHOWN} keywords"], body, left=3)


def _attended(rows: list[dict[str, Any]], systems: dict[str, str]) -> list[str]:
    ranked = {"mean": "mean over documents with the word", "sum": "sum over documents (Eq. 2)"}
    body = [
        [systems[row["system"]], f"{row['train']} → {test}", title, _words([entry["word"] for entry in lists[kind]])]
        for row in rows
        for test, lists in row["words"].items()
        for kind, title in ranked.items()
    ]
    return markdown_table(["system", "trained → tested on", "attention", "words"], body, left=4)


def _silhouettes(rows: list[dict[str, Any]], systems: dict[str, str]) -> list[str]:
    body = [
        [row["train"], " / ".join(row["documents"]), systems[row["system"]], f"{row['silhouette']:.3f}"] for row in rows
    ]
    caption = "Silhouette of the two sets in the embedding space: near 1 the sets are separated, near 0 they overlap."
    return [caption, "", *markdown_table(["trained on", "sets", "system", "silhouette"], body, left=3)]


def _rates(row: dict[str, Any]) -> list[str]:
    sources = list(row["rates"])
    targets = list(row["rates"][sources[0]])
    body = [[target, *(f"{row['rates'][source][target]:.2f}" for source in sources)] for target in targets]
    caption = f"Keywords of each class of {row['train']} (columns) among the tokens of other classes (rows), in %."
    return [caption, "", *markdown_table(["", *sources], body)]


def _words(words: list[str]) -> str:
    return ", ".join(word.replace("|", "\\|") for word in words)
