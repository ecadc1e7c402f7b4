"""What ``masker audit`` prints, and the files it writes."""

from __future__ import annotations

import os
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from masker.audit import Audit, Comparison
from masker.audit.reliance import RelianceIntervals
from masker.errors import ConfigError
from masker.files import write_json, write_text
from masker.report.audit_page import audit_page, difference_sentence
from masker.report.console import console

DATA, PAGE = "audit.json", "audit.html"
#: How many keywords of a class the console shows, and the least part of all losses that one of them carries.
_SHOWN = 8
_LEAST = 0.005


def check_folder(output: str | Path) -> Path:
    """Refuse an output that cannot be a folder, before any work is done.

    Raises:
        ConfigError: When it is a file or lies in one, or may not be written to.
    """
    folder = Path(output).expanduser()
    standing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not standing.is_dir():
        raise ConfigError(f"output '{standing}' is a file; give the audit a folder with --output")
    if not os.access(standing, os.W_OK):
        raise ConfigError(f"output '{standing}' may not be written to; give the audit another folder with --output")
    return folder


def write_audit(found: Audit | Comparison, folder: Path) -> None:
    """Write the JSON file and the page, each whole or not at all; those of an earlier audit are replaced."""
    page = audit_page(found)
    write_json(folder / DATA, found.to_json())
    write_text(folder / PAGE, page)


def print_audit(found: Audit | Comparison, folder: Path) -> None:
    """Tables for people."""
    out = console()
    for audit in (found.audit, found.against) if isinstance(found, Comparison) else (found,):
        title = f"{audit.model} on {audit.data}: {audit.documents} documents, {audit.max_length} tokens of each, in %"
        out.print(f"\n{title}", soft_wrap=True, markup=False)
        out.print(_figures_table(audit))
        out.print("keywords, with their part of what masking one keyword at a time loses:", soft_wrap=True)
        for name, keywords in audit.keywords.items():
            carrying = [row for row in keywords[:_SHOWN] if row.carried >= _LEAST]
            words = ", ".join(f"{row.word} {100 * row.carried:.0f} %" for row in carrying)
            words = words or ("none that matters" if keywords else "none found")
            out.print(f"  [bold]{escape(name)}[/]: {escape(words)}", soft_wrap=True)
        title = f"{audit.model}: reliance on {audit.scheme} keywords (0 = like random words, 1 = nothing else matters)"
        _print_reliance(title, audit.reliance)
    if isinstance(found, Comparison):
        _print_reliance("difference (first minus second)", found.difference)
        out.print(difference_sentence(found), markup=False)
    out.print(f"page: {folder / PAGE}", soft_wrap=True, markup=False)


def _figures_table(audit: Audit) -> Table:
    table = Table()
    table.add_column("masked")
    for heading in ("confidence", "with random words", "accuracy", "with random words"):
        table.add_column(heading, justify="right")
    nothing = audit.whole
    table.add_row("nothing", _percent(nothing.confidence), "", _percent(nothing.accuracy), "")
    rows = [(f"{100 * point.share:g} % of the keywords", point.keywords, point.random) for point in audit.curve]
    for name, keywords, random in (*rows, ("all but the keywords", audit.bare_keywords, audit.bare_random)):
        table.add_row(
            name,
            _percent(keywords.confidence),
            _percent(random.confidence),
            _percent(keywords.accuracy),
            _percent(random.accuracy),
        )
    table.add_row("everything", _percent(audit.empty.confidence), "", _percent(audit.empty.accuracy), "")
    return table


def _print_reliance(title: str, intervals: RelianceIntervals) -> None:
    console().print(f"\n{title}", soft_wrap=True, markup=False)
    table = Table()
    for heading in ("figure", "value", "95 % interval"):
        table.add_column(heading, justify="left" if heading == "figure" else "right")
    for name, figure in intervals.to_json().items():
        table.add_row(name, f"{figure['value']:.3f}", f"{figure['low']:.3f} – {figure['high']:.3f}")
    console().print(table)


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"
