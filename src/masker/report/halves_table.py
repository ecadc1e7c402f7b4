"""A search among systems as Markdown: both halves side by side, what was chosen, and whether it is confirmed."""

from __future__ import annotations

from typing import Any

from masker.report.markdown import markdown_table
from masker.report.verdict import verdict

Row = dict[str, Any]


def halves_lines(summary: dict[str, Any], headings: dict[str, str]) -> list[str]:
    """A table for each metric and score, and after those of the first metric the system that it chooses."""
    rows: list[Row] = summary["halves"]
    lines: list[str] = []
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    for metric in metrics:
        # A classification does not depend on the score that tells foreign documents.
        scores = list(dict.fromkeys(row["score"] for row in rows))[: None if metric == metrics[0] else 1]
        for score in scores:
            own = [row for row in rows if row["metric"] == metric and row["score"] == score]
            read = f", read by `{score}`" if score and metric == metrics[0] else ""
            lines += [f"**{headings[metric].rstrip(' ↑↓')}{read}**, difference to {_baseline(summary, own)}.", ""]
            lines += [*_table(own, summary), ""]
            if metric == metrics[0]:
                lines += [*_choice(own, summary), ""]
    return lines[:-1]


def _baseline(summary: dict[str, Any], rows: list[Row]) -> str:
    means = {source: mean for row in rows for source, mean in row.get("means", {}).items()}
    shown = ", ".join(f"{source} {mean:.1f}" for source, mean in means.items())
    return f"{_title(summary, summary['baseline'], rows[0]['score'])} ({shown})"


def _table(rows: list[Row], summary: dict[str, Any]) -> list[str]:
    compared = [row for row in rows if "differences" in row]
    sources = list(dict.fromkeys(source for row in compared for source in row["differences"]))
    by_place = {(row["system"], row["half"]): row for row in compared}
    body = []
    for system in dict.fromkeys(row["system"] for row in compared):
        halves = [by_place.get((system, half)) for half in ("choose", "confirm")]
        differences = {source: value for row in halves if row for source, value in row["differences"].items()}
        cells = [f"{differences[source]:+.1f}" if source in differences else "–" for source in sources]
        body.append([_title(summary, system, rows[0]["score"]), *cells, *(_shown(row) for row in halves)])
    header = ["setting", *sources, "choosing half", "confirming half"]
    return markdown_table(header, body)


def _shown(row: Row | None) -> str:
    if row is None:
        return "–"
    units = f"{row['units']} {'pair' if row['units'] == 1 else 'pairs'}"
    return f"{row['difference']:+.1f} (p = {row['p_value']:.3f}, {units})"


def _choice(rows: list[Row], summary: dict[str, Any]) -> list[str]:
    candidates = [row for row in rows if row["half"] == "choose" and "differences" in row]
    if not candidates:
        return ["Nothing has been run on the choosing half."]
    # A search may drop systems after a few pairs; among those that are left, luck counts least.
    most = max(row["units"] for row in candidates)
    candidates = [row for row in candidates if row["units"] == most]
    best = max(candidates, key=lambda row: float(row["difference"]))
    title = _title(summary, best["system"], best["score"])
    chosen = f"Chosen: **{title}**, {best['difference']:+.1f} points on the choosing half"
    found = [row for row in rows if row["half"] == "confirm" and row["system"] == best["system"]]
    if not found:
        return [f"{chosen}; not run on the confirming half."]
    judged = verdict(found[0], better="confirmed", worse="worse than the baseline")
    points = f"{found[0]['difference']:+.1f} points over {found[0]['units']} pairs of training runs"
    return [f"{chosen}; on the confirming half {points}; {judged}."]


def _title(summary: dict[str, Any], system: str, score: str) -> str:
    title = summary["systems"].get(f"{system}:{score}" if score else system, system)
    return str(title).removesuffix(f", {score}")
