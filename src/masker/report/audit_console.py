"""What ``masker audit`` prints, and the files it writes."""

from __future__ import annotations

from pathlib import Path

from rich.markup import escape
from rich.table import Table

from masker.audit import Audit, AuditComparison
from masker.audit.reliance import RelianceIntervals
from masker.files import write_json, write_text
from masker.report.audit_page import audit_page, difference_sentence
from masker.report.console import console, figure_table, interval_table

DATA, PAGE = "audit.json", "audit.html"
#: Keywords shown per class, and the least share of the loss that a shown keyword carries.
_SHOWN = 8
_LEAST = 0.005


def write_audit(found: Audit | AuditComparison, folder: Path) -> None:
    """Write the JSON file and the page; replaces those of an earlier audit."""
    page = audit_page(found)
    write_json(folder / DATA, found.to_json())
    write_text(folder / PAGE, page)


def print_audit(found: Audit | AuditComparison, folder: Path) -> None:
    """Print the tables."""
    out = console()
    for audit in (found.audit, found.against) if isinstance(found, AuditComparison) else (found,):
        title = f"{audit.model} on {audit.data}: {audit.documents} documents of up to {audit.max_length} tokens, in %"
        out.print(f"\n{title}", soft_wrap=True, markup=False)
        out.print(_figures_table(audit))
        out.print("keywords, and their share of the confidence lost by masking one at a time:", soft_wrap=True)
        for name, keywords in audit.keywords.items():
            carrying = [row for row in keywords[:_SHOWN] if row.carried >= _LEAST]
            words = ", ".join(f"{row.word} {100 * row.carried:.0f} %" for row in carrying)
            words = words or ("none that matters" if keywords else "none found")
            out.print(f"  [bold]{escape(name)}[/]: {escape(words)}", soft_wrap=True)
        title = f"{audit.model}: reliance on {audit.scheme} keywords (0 = like random words, 1 = nothing else matters)"
        _print_reliance(title, audit.reliance)
    if isinstance(found, AuditComparison):
        _print_reliance("difference (first minus second)", found.difference)
        out.print(difference_sentence(found), markup=False)
    out.print(f"page: {folder / PAGE}", soft_wrap=True, markup=False)


def _figures_table(audit: Audit) -> Table:
    table = figure_table(["masked"], ["confidence", "random words", "accuracy", "random words"])
    rows = [
        ("nothing", audit.whole, None),
        *((f"{100 * point.share:g} % of the keywords", point.keywords, point.random) for point in audit.curve),
        ("all but the keywords", audit.bare_keywords, audit.bare_random),
        ("everything", audit.empty, None),
    ]
    for name, keywords, random in rows:
        figures = [getattr(view, kind, None) for kind in ("confidence", "accuracy") for view in (keywords, random)]
        table.add_row(name, *("" if figure is None else f"{100 * figure:.1f}" for figure in figures))
    return table


def _print_reliance(title: str, intervals: RelianceIntervals) -> None:
    console().print(f"\n{title}", soft_wrap=True, markup=False)
    console().print(interval_table(intervals.to_json(), 3))
