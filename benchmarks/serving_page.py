"""The tables of docs/serving.md, made from results/serving.json and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from masker.files import write_text

_BEGIN, _END = "<!-- table {name} -->", "<!-- end of table -->"

#: At saturation, against the bulk scorer and against the pipeline.
LEAST_SHARE, LEAST_TIMES = 0.8, 3.0
_NAMES = {
    "pipeline": "pipeline of transformers behind FastAPI, no batches",
    "litserve": "our model behind LitServe, its batches",
    "ray": "our model behind Ray Serve, its `@serve.batch`",
}


def write_tables(results: dict[str, Any], path: Path) -> None:
    """Replace what stands between the marks of each table."""
    text = path.read_text(encoding="utf-8")
    for name, make in TABLES.items():
        begin = _BEGIN.format(name=name)
        if begin not in text:
            raise ValueError(f"{path} has no mark '{begin}'")
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(_END)
        table = make(results) if name in results else "Not measured yet.\n"
        text = f"{before}{begin}\n\n{table}\n{_END}{after}"
    write_text(path, text)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _mark(reached: bool) -> str:
    return "reached" if reached else "**not reached**"


def throughput_table(results: dict[str, Any]) -> str:
    part = results["throughput"]
    rows = []
    for row in part["rows"]:
        base = next(one for one in part["rows"] if one["shape"] == row["shape"] and one["name"] == "pipeline")
        times = row["share"] / base["share"]
        share = f"{row['share']:.2f} ({row['low']:.2f}–{row['high']:.2f})"
        ours = row["name"].startswith("masker")
        shown = f"`{row['name']}`" if ours else _NAMES[row["name"]]
        first = row["name"] == "masker serve"
        goals = [_mark(row["share"] >= LEAST_SHARE), _mark(times >= LEAST_TIMES)] if first else ["", ""]
        bad = row["failed"] + row["refused"] + row["connections_lost"]
        rows.append(
            [row["shape"], shown, f"{share} {goals[0]}".strip(), f"{times:.1f} {goals[1]}".strip(),
             f"{row['p50_ms']:,.0f} / {row['p99_ms']:,.0f}", str(bad)]
        )  # fmt: skip
    head = ["request", "service", "bulk scorer = 1", "pipeline = 1", "p50 / p99, ms", "neither 2xx nor 429"]
    return _table(head, rows)


def overload_table(results: dict[str, Any]) -> str:
    rows = []
    for row in results["overload"]["rows"]:
        answered = row["requests"] - row["too_many"] - row["refused"] - row["failed"]
        other = row["refused"] + row["failed"] + row["connections_lost"] + row["timeouts"]
        rows.append(
            [f"{row['connections']:,}", f"{answered / row['seconds']:,.0f}", f"{row['too_many'] / row['seconds']:,.0f}",
             str(other), f"{row['p50_ms']:,.0f}", f"{row['p99_ms']:,.0f}", f"{row['max_ms']:,.0f}"]
        )  # fmt: skip
    head = ["connections", "answered a second", "429 a second", "anything else", "p50, ms", "p99, ms", "longest, ms"]
    return _table(head, rows)


def soak_table(results: dict[str, Any]) -> str:
    part = results["soak"]
    memory = part["memory_mb"]
    rows = [
        ["minutes", f"{part['minutes']:g}"],
        ["load", f"{100 * part['load']:.0f} % of saturation"],
        ["requests", f"{part['requests']:,}"],
        ["answers other than 2xx", str(part["failed"] + part["too_many"])],
        ["p50, and p99 of the best and the worst minute", f"{part['p50_ms']:,.0f} ms, {min(part['p99_ms']):,.0f} ms, "
         f"{max(part['p99_ms']):,.0f} ms"],
        ["memory after the first and the last minute", f"{memory[0]:,.1f} MB, {memory[-1]:,.1f} MB"],
        ["growth, fitted after the first fifth", f"{part['memory_mb_per_hour']:+.1f} MB an hour"],
    ]  # fmt: skip
    return _table(["10 minutes of steady load" if part["minutes"] >= 10 else "steady load", ""], rows)


def killed_table(name: str) -> Callable[[dict[str, Any]], str]:
    def make(results: dict[str, Any]) -> str:
        part = results[name]
        head = ["processes", "requests answered", "requests lost", "a new one was started after"]
        row = [part["processes"], f"{part['answered']:,}", part["failed"], f"{part['replaced_after_s']:g} s"]
        return _table(head, [[str(cell) for cell in row]])

    return make


def schema_table(results: dict[str, Any]) -> str:
    part = results["schema"]
    return _table(
        ["requests", *(f"answer {status}" for status in part["statuses"]), "answer 5xx"],
        [[f"{part['requests']:,}", *(f"{count:,}" for count in part["statuses"].values()),
          str(sum(count for status, count in part["statuses"].items() if status.startswith("5")))]],
    )  # fmt: skip


TABLES: dict[str, Callable[[dict[str, Any]], str]] = {
    "throughput": throughput_table,
    "overload": overload_table,
    "soak": soak_table,
    "killed": killed_table("killed"),
    "killed-replica": killed_table("killed-replica"),
    "schema": schema_table,
}
