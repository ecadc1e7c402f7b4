"""Reliance on keywords of several systems, as Markdown tables."""

from __future__ import annotations

import statistics
from typing import Any

from masker.report.markdown import markdown_table
from masker.report.verdict import verdict

KEYWORDS = {
    "training": "MASKER's training keywords (Eq. 2)",
    "frequency": "by frequency in the test set (Eq. 1)",
    "occlusion": "each model's own, by occlusion",
    "attention": "each model's own, by attention",
}
MASKING = {"drop": "left out", "mask": "mask token"}
_PARTS = ("reliance", "kept", "lost")


def reliance_lines(summary: dict[str, Any]) -> list[str]:
    """Markdown for the analysis ``reliance``: means over seeds, and the paired comparisons."""
    systems = summary["systems"]
    values: dict[tuple[str, str, str], dict[tuple[str, str], list[float]]] = {}
    for row in summary["analysis"]:
        for audit in row["audits"]:
            cells = values.setdefault((row["train"], audit["keywords"], audit["masking"]), {})
            for part in _PARTS:
                cells.setdefault((row["system"], part), []).append(audit[part]["value"])
    columns = [(system, part) for part in _PARTS for system in systems]
    header = ["trained on", "keywords", "masked words", *(f"{part}, {systems[system]}" for system, part in columns)]
    body = [
        [train, KEYWORDS[keywords], MASKING[masking], *(_spread(cells.get(column, [])) for column in columns)]
        for (train, keywords, masking), cells in values.items()
    ]
    caption = "Reliance on keywords from 0 to 1 and its two parts, mean ± standard deviation over seeds."
    lines = [caption, "", *markdown_table(header, body, left=3)]
    comparisons = [
        [*_compared(row, systems), _apart(row, summary["analysis"])] for row in summary.get("comparisons", [])
    ]
    if not comparisons:
        return lines
    header = ["compared", "keywords", "masked words", "paired test", "difference", "lower in pairs of runs"]
    header.append("lower, intervals apart")
    return [*lines, "", *markdown_table(header, comparisons, left=4)]


def _compared(row: dict[str, Any], systems: dict[str, str]) -> list[str]:
    system, baseline = systems[row["system"]], systems[row["baseline"]]
    return [
        f"{system} minus {baseline}",
        KEYWORDS[row["keywords"]],
        MASKING[row["masking"]],
        verdict(row, better=f"{system} relies less on keywords", worse=f"{system} relies more on keywords"),
        f"{0.0 - row['difference']:+.3f}",
        f"{row['wins']} of {row['units']}",
    ]


def _apart(row: dict[str, Any], analysis: list[dict[str, Any]]) -> str:
    """In which corpora each model of the system lies below that of the baseline with its whole interval."""
    found: dict[tuple[str, str], dict[Any, dict[str, float]]] = {}
    for entry in analysis:
        for audit in entry["audits"]:
            if (audit["keywords"], audit["masking"]) == (row["keywords"], row["masking"]):
                models = found.setdefault((entry["train"], entry["system"]), {})
                models[entry["model"], entry["seed"]] = audit["reliance"]
    below = []
    for train in dict.fromkeys(train for train, _ in found):
        system, baseline = (found.get((train, row[side]), {}) for side in ("system", "baseline"))
        common = [model for model in system if model in baseline]
        if common and all(system[model]["high"] < baseline[model]["low"] for model in common):
            below.append(train)
    return ", ".join(below) or "none"


def _spread(values: list[float]) -> str:
    if not values:
        return "–"
    mean = f"{statistics.fmean(values):.2f}"
    return f"{mean} ± {statistics.stdev(values):.2f}" if len(values) > 1 else mean
