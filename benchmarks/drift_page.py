"""The tables of docs/monitoring.md, made from results/drift.json and nothing else."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from benchmarks.drift_streams import OFFSETS, SHARES
from masker.files import write_text
from masker.metrics import binomial_interval

STRANGEST = float(SHARES[OFFSETS.argmax()])
_BEGIN, _END = "<!-- table {name} -->", "<!-- end of table -->"


def write_tables(results: dict[str, Any], path: Path, tables: dict[str, Any] | None = None) -> None:
    """Replace what stands between the marks of each table, by default those of this module."""
    text = path.read_text(encoding="utf-8")
    for name, (make, needed) in (TABLES if tables is None else tables).items():
        begin = _BEGIN.format(name=name)
        if begin not in text:
            raise ValueError(f"{path} has no mark '{begin}'")
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(_END)
        table = make(results) if set(needed) <= set(results) else "Not measured yet.\n"
        text = f"{before}{begin}\n\n{table}\n{_END}{after}"
    write_text(path, text)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _percent(value: float, digits: int = 0) -> str:
    return f"{100 * value:.{digits}f} %"


def _delay(cell: dict[str, Any]) -> str:
    if cell["median"] is None:
        return f"– ({_percent(cell['found'])})"
    found = "" if cell["found"] == 1 else f" ({_percent(cell['found'])})"
    return f"{cell['median']:,.0f}{found}"


def quiet_table(results: dict[str, Any]) -> str:
    part = results["quiet"]
    rows = []
    for row in part["rows"]:
        settings, found = row["settings"], binomial_interval(row["alarms"], part["streams"])
        stated = f"{_percent(settings['alarm_rate'])} in {settings['horizon']:,} texts"
        measured = f"{_percent(found.value, 1)} ({100 * found.low:.1f}–{100 * found.high:.1f})"
        rows.append([f"{row['calibration']:,}", stated, measured])
    head = ["calibration texts", "stated, at most", f"{part['streams']:,} quiet streams of {part['texts']:,} texts"]
    return _table(head, rows)


def change_table(results: dict[str, Any]) -> str:
    part = results["change"]
    shares = sorted({row["share"] for row in part["rows"]})
    groups: dict[tuple[int, float, int], dict[float, dict[str, Any]]] = {}
    for row in part["rows"]:
        groups.setdefault((row["at"], row["strangeness"], row["calibration"]), {})[row["share"]] = row
    rows = []
    for (at, strangeness, size), cells in groups.items():
        when = f"after {at:,} texts" if at else "from the first text"
        area = _percent(results["auroc"][str(strangeness)])
        rows.append([when, area, f"{size:,}", *(_delay(cells[share]) for share in shares)])
    head = ["foreign texts come", "AUROC", "calibration texts", *(f"{_percent(share)} foreign" for share in shares)]
    return _table(head, rows)


def estimate_table(results: dict[str, Any]) -> str:
    rows = []
    for row in results["change"]["rows"]:
        if row["at"] and row["calibration"] == 200 and row["estimate"] is not None:
            area = _percent(results["auroc"][str(row["strangeness"])])
            cells = [f"{row['start_error']:,.0f} texts", _percent(row["estimate"], 1), _percent(row["covered"])]
            rows.append([area, _percent(row["share"]), *cells])
    return _table(["AUROC", "foreign", "start is off by", "share, estimated", "95 % interval covers it"], rows)


def river_table(results: dict[str, Any]) -> str:
    part, ours = results["river"], results["change"]
    case = part["case"]
    shares = list(next(iter(part["rows"].values()))["delays"])
    cells = {
        str(row["share"]): row
        for row in ours["rows"]
        if all(row[key] == case[key] for key in ("at", "strangeness", "calibration"))
    }
    same = [row for row in results["quiet"]["rows"] if row["calibration"] == case["calibration"]]
    strictest = min(same, key=lambda row: row["settings"]["alarm_rate"])
    alarms = _percent(strictest["alarms"] / results["quiet"]["streams"], 1)
    rows = [["masker monitor", alarms, *(_delay(cells[share]) for share in shares)]]
    for name, row in part["rows"].items():
        parameter = "δ" if name.startswith("ADWIN") else "α"
        detector = f"river {name.replace('KSWIN 1000', 'KSWIN with windows of 1,000 and 300')}"
        shown = f"{detector}: {parameter} = {row['level']}"
        found = [_delay(row["delays"][share]) for share in shares]
        rows.append([shown, _percent(row["alarms"] / row["streams"], 1), *found])
    quiet = f"alarms in quiet streams of {part['texts']:,} texts"
    return _table(["detector", quiet, *(f"{_percent(float(share))} foreign" for share in shares)], rows)


def corpora_table(results: dict[str, Any]) -> str:
    rows = []
    for name, part in results["corpora"].items():
        shares = list(next(iter(part["delays"].values())))
        alarms = f"{part['quiet']['alarms']} of {part['quiet']['streams']}"
        for foreign, cells in part["delays"].items():
            area = part["auroc"][foreign]
            size = "–".join(f"{size:,}" for size in sorted({min(part["calibration"]), max(part["calibration"])}))
            area_shown = "–".join(sorted({f"{100 * min(area):.0f}", f"{100 * max(area):.0f}"})) + " %"
            rows.append([name, size, alarms, foreign, area_shown, *(_delay(cells[share]) for share in shares)])
    head = ["corpus", "calibration texts", "alarms in quiet streams", "foreign texts", "AUROC"]
    return _table([*head, *(f"{_percent(float(share))} foreign" for share in shares)], rows)


def other_table(results: dict[str, Any]) -> str:
    rows = []
    for row in results["other"]["rows"]:
        share = _percent(row["share"])
        what = {
            "classes": f"the strangest class grows from {_percent(STRANGEST)} to {share} of the traffic, nothing else",
            "duplicates": f"{share} of the traffic is one known text, repeated",
            "gradual": f"foreign texts grow evenly from 0 to {share} over {row['texts'] - row['at']:,} texts",
        }[row["kind"]]
        rows.append([what, _percent(row["found"]), "–" if row["median"] is None else f"{row['median']:,.0f}"])
    return _table(["change", "streams with an alarm", "texts until then, median"], rows)


def example_text(results: dict[str, Any]) -> str:
    # A number keeps its unit.
    lines = textwrap.fill(results["example"]["sentence"].replace(" %", "\N{NO-BREAK SPACE}%"), 116)
    return "```text\n" + lines.replace("\N{NO-BREAK SPACE}", " ") + "\n```\n"


def cost_table(results: dict[str, Any]) -> str:
    part = results["cost"]
    rows = [[f"{int(batch):,}", f"{time:,}"] for batch, time in part["microseconds"].items()]
    return _table(["texts observed together", "processor time of a text, µs"], rows)


#: What makes each table, and the parts of the results it needs.
TABLES = {
    "quiet": (quiet_table, ("quiet",)),
    "change": (change_table, ("change",)),
    "estimate": (estimate_table, ("change",)),
    "river": (river_table, ("river", "change", "quiet")),
    "corpora": (corpora_table, ("corpora",)),
    "other": (other_table, ("other",)),
    "cost": (cost_table, ("cost",)),
    "example": (example_text, ("example",)),
}
