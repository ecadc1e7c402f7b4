"""Discovered groups, and texts chosen to be labelled, in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape

from masker.discovery import Discovery
from masker.discovery.text_groups import discovery_sentence
from masker.report.console import console, figure_table
from masker.report.plain_text import plain_text, short_label

#: Groups shown.
_SHOWN = 20
#: Characters of an example.
_EXAMPLE = 70


def print_groups(found: Discovery, folder: Path | None) -> None:
    """Print the sentence, a row for each group, and where the files are."""
    out = console()
    out.print(discovery_sentence(found), soft_wrap=True, markup=False)
    if found.groups:
        table = figure_table(["group", "nearest class", "from the middle"], ["texts", "cohesion", "novelty"])
        for group in found.groups[:_SHOWN]:
            nearest = "–" if group.nearest is None else escape(short_label(str(group.nearest)))
            verdict = {True: "new", False: f"part of {nearest}?", None: "–"}[group.is_new]
            novelty = "–" if group.novelty is None else f"{group.novelty:.2f}"
            example = escape(short_label(group.middle[0], _EXAMPLE)) if group.middle else ""
            shown = [escape(plain_text(group.name)), nearest if group.is_new else verdict, example]
            table.add_row(*shown, f"{group.texts:,}", f"{group.cohesion:.2f}", novelty)
        out.print(table)
        out.print("novelty above 1: farther from the nearest class than the halves of that class from each other")
    if len(found.groups) > _SHOWN:
        out.print(f"and {len(found.groups) - _SHOWN} more groups; --json has all of them")
    if folder is not None:
        out.print(f"files: {folder} (groups.html, groups.json, texts.csv)", soft_wrap=True, markup=False)


def print_review(summary: dict[str, Any]) -> None:
    """Print how many texts were chosen, why, and where they are."""
    out = console()
    titles = {"threshold": "near the threshold", "classes": "between two classes", "group": "from the middle of groups"}
    parts = ", ".join(f"{count} {titles[reason]}" for reason, count in summary["reasons"].items())
    out.print(f"{summary['chosen']} of {summary['texts']:,} texts to label: {parts}", markup=False)
    out.print(f"files: {', '.join(summary['files'])}", soft_wrap=True, markup=False)
