"""The state of a monitor in the terminal."""

from __future__ import annotations

from typing import Any

from rich.markup import escape

from masker.report.console import console, figure_table

#: Classes shown: those with an alarm, then those with the most evidence.
_SHOWN = 10


def print_drift(state: dict[str, Any]) -> None:
    """Print the sentence, then the figures of the whole and of the classes."""
    out = console()
    out.print(state["sentence"], soft_wrap=True, markup=False)
    if not state["observed"]:
        return
    headings = ["texts", "foreign now, %", "evidence", "limit", "alarm at", "since"]
    table = figure_table(["predicted class"], headings)
    table.add_row("all together", *_cells(state["whole"]), end_section=True)
    seen = [group for group in state["classes"] if group["observed"]]
    ranked = sorted(seen, key=lambda group: (group["alarm"], group["evidence"]), reverse=True)
    for group in ranked[:_SHOWN]:
        table.add_row(escape(str(group["label"])), *_cells(group))
    out.print(table)
    if len(ranked) > _SHOWN:
        out.print(f"and {len(ranked) - _SHOWN} more classes; --json has all of them")
    if not state["alarm"]:
        settings = state["settings"]
        rate, horizon = 100 * settings["alarm_rate"], settings["horizon"]
        out.print(f"the chance of a false alarm is at most {rate:.3g} % in {horizon:,} texts")


def _cells(group: dict[str, Any]) -> list[str]:
    share = group["foreign_share"]
    foreign = "–"
    if share is not None:
        foreign = f"{100 * share['value']:.0f} ({100 * share['low']:.0f}–{100 * share['high']:.0f})"
    evidence = [f"{max(0.0, group['evidence']):.1f}", f"{group['evidence_limit']:.1f}"]
    alarm = [f"{group['detected']:,}", f"{group['since']:,}"] if group["alarm"] else ["–", "–"]
    return [f"{group['observed']:,}", foreign, *evidence, *alarm]
