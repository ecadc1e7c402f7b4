"""The tables of docs/reliability.md, made from results/trust.json and nothing else."""

from __future__ import annotations

from typing import Any

from benchmarks.drift_page import _percent as percent
from benchmarks.drift_page import _table as table

_TRAININGS = {
    "split": "documents set aside, examples kept",
    "cross-fitted": "five folds",
    "residual": "residual ensemble",
}
_MOMENTS = {"random": "at random moments", "writes": "before a write of each kind"}
_FUZZED = {
    "table": "tables: CSV, TSV, JSON, text, Parquet, gzip",
    "config": "settings",
    "recipe": "recipes",
    "model": "model folders: each file but the graph",
}


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}"


def trainings_table(results: dict[str, Any]) -> str:
    rows = [
        [
            _TRAININGS[row["training"]],
            _MOMENTS[row["moments"]],
            f"{row['killed']}",
            f"{row['resumed']}",
            _of(row["same"], row["runs"]),
        ]
        for row in results["trainings"]["rows"]
    ]
    return table(["training", "killed", "times", "of these, it resumed", "same files as uninterrupted"], rows)


def writers_table(results: dict[str, Any]) -> str:
    rows = [
        [
            f"`{row['command']}`" if "," not in row["command"] else "`predict` of a folder",
            f"{row['kills']}",
            _of(row["whole_or_none"], row["kills"]),
            _of(row["again"], row["kills"]),
        ]
        for row in results["writers"]["rows"]
    ]
    return table(["command", "kills", "left old, new or nothing", "repeated: as uninterrupted"], rows)


def disks_table(results: dict[str, Any]) -> str:
    rows = []
    for row in results["disks"]["rows"]:
        said = "enough" if row["code"] == 0 else "refused in one line" if row["explained"] else "not explained"
        rows.append([f"{row['megabytes']} MB", said, _yes(not row["half_a_model"]), _yes(row["same"])])
    return table(["disk", "training", "no half model", "same model once there is room"], rows)


def _yes(value: bool | None) -> str:
    return "–" if value is None else "yes" if value else "**no**"


def meeting_table(results: dict[str, Any]) -> str:
    rows = results["meeting"]["rows"]
    won = sum(row["winners"] == 1 for row in rows)
    clear = sum(row["clear"] for row in rows)
    return table(
        ["two trainings into one folder", "one finished", "the other got a line"],
        [[f"{len(rows)}", f"{won}", f"{clear}"]],
    )


def degenerate_table(results: dict[str, Any]) -> str:
    rows = []
    for row in results["degenerate"]["rows"]:
        said = "trains" if row["code"] == 0 else "says why not" if row["explained"] else f"exit code {row['code']}"
        rows.append([row["data"], said, _yes(row["finite"])])
    return table(["training data", "what happens", "all weights are numbers"], rows)


def agreement_table(results: dict[str, Any]) -> str:
    rows = [
        [row["ways"], f"{row['difference']:.1e}", f"{row['tolerance']:.0e}", _yes(row["same_decisions"])]
        for row in results["agreement"]["rows"]
    ]
    return table(["between", "largest difference of a logit", "allowed", "same labels and decisions"], rows)


def promise_table(results: dict[str, Any]) -> str:
    rows = [
        [percent(row["promised"]), f"{percent(row['mean'], 1)} ± {100 * row['standard_error']:.1f}", _yes(row["kept"])]
        for row in results["promise"]["rows"]
    ]
    return table(["promised, at most", "false alarms, mean and standard error", "kept"], rows)


def fuzz_table(results: dict[str, Any]) -> str:
    rows = [
        [
            _FUZZED[name],
            f"{row['seconds']} s",
            f"{row['executions']:,}",
            f"{row['peak_mb']} MB",
            f"{len(row['findings'])}",
        ]
        for name, row in results["fuzz"].items()
    ]
    return table(["input", "time", "inputs tried", "most memory", "findings"], rows)


def large_table(results: dict[str, Any]) -> str:
    rows = []
    for row in results["large"]["rows"]:
        said = "done" if row["code"] in (0, 3) else "says why not" if row["explained"] else f"exit code {row['code']}"
        rows.append([row["input"], said, f"{row['cpu_seconds']:.0f} s", f"{row['peak_mb']:,} MB"])
    return table(["input", "what happens", "processor time", "most memory"], rows)


#: What makes each table, and the parts of the results it needs.
TABLES = {
    "trainings": (trainings_table, ("trainings",)),
    "writers": (writers_table, ("writers",)),
    "disks": (disks_table, ("disks",)),
    "meeting": (meeting_table, ("meeting",)),
    "degenerate": (degenerate_table, ("degenerate",)),
    "agreement": (agreement_table, ("agreement",)),
    "promise": (promise_table, ("promise",)),
    "large": (large_table, ("large",)),
    "fuzz": (fuzz_table, ("fuzz",)),
}
