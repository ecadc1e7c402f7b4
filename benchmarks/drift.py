"""``python -m benchmarks.drift``: false alarms and delays of the monitor, beside river's detectors and on real corpora.

Writes ``results/drift.json`` after each part, and the tables of ``docs/monitoring.md`` from it. ``--only`` measures
some parts anew; ``--page`` only writes the page.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import environments
from benchmarks.drift_corpora import CORPORA, NEEDED, measure_corpus
from benchmarks.drift_page import write_tables
from benchmarks.drift_streams import NAMES, Truth, delays, first_alarm, make_stream, p_values, watch
from masker.corpora import list_corpora
from masker.files import write_json
from masker.metrics import auroc
from masker.monitoring import DriftMonitor, MonitorSettings
from masker.monitoring.drift_monitor import group_limits
from masker.provenance import provenance
from masker.report.drift_figure import draw_drift

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "drift.json"
PAGE = ROOT / "docs" / "monitoring.md"
PICTURE = ROOT / "docs" / "monitoring.svg"

SIZES = (40, 200, 1000)  # calibration texts
SHARES = (0.05, 0.1, 0.2)  # foreign
STRANGENESS = (2.5, 3.4)  # how far foreign scores lie above known ones
QUIET_STREAMS, STREAMS = 1000, 100
QUIET_TEXTS, CHANGE, AFTER = 3000, 1000, 4000
COST_TEXTS = 20_000
#: A rate that is kept is best seen where it is not tiny.
LOOSE = MonitorSettings(alarm_rate=0.1, horizon=QUIET_TEXTS)
#: Streams that river's detectors see; KSWIN takes up to milliseconds for a text.
RIVER_MOST = {"ADWIN": QUIET_STREAMS, "KSWIN": 100, "KSWIN 1000": 20}
RIVER_CASE = Truth(200, CHANGE + AFTER, CHANGE, 0.0, STRANGENESS[0])


def quiet() -> dict[str, Any]:
    """Streams with an alarm although nothing changed."""
    rows = []
    for size in SIZES:
        alarms = np.zeros(2, dtype=int)
        for seed in range(QUIET_STREAMS):
            state = watch(make_stream(Truth(size, QUIET_TEXTS), seed), LOOSE, until=QUIET_TEXTS).state()
            alarms += [would_alarm(state, settings) for settings in (LOOSE, MonitorSettings())]
        for settings, count in zip((LOOSE, MonitorSettings()), alarms.tolist(), strict=True):
            rows.append({"calibration": size, "settings": settings.as_dict(), "alarms": count})
            print(rows[-1], file=sys.stderr)
    return {"streams": QUIET_STREAMS, "texts": QUIET_TEXTS, "rows": rows}


def would_alarm(state: dict[str, Any], settings: MonitorSettings) -> bool:
    """Whether a monitor with other limits, but the same windows, would have raised an alarm by now."""
    whole, each = group_limits(settings, len(state["classes"]))
    return any(
        group["highest_evidence"] >= -math.log10(limits.martingale_rate)
        or group["lowest_window_p_value"] <= limits.look_level
        for group, limits in [(state["whole"], whole), *((group, each) for group in state["classes"])]
    )


def change() -> dict[str, Any]:
    """Delay until the alarm, what is said of the start, and what is said of the share 1,000 texts after it."""
    rows = []
    for at in (CHANGE, 0):
        for strangeness in STRANGENESS:
            for size in SIZES:
                for share in SHARES:
                    rows.append(_change_row(Truth(size, at + AFTER, at, share, strangeness)))
                    print(rows[-1], file=sys.stderr)
    return {"after": AFTER, "rows": rows}


def _change_row(truth: Truth) -> dict[str, Any]:
    firsts, starts, estimates, covered = [], [], [], []
    for seed in range(STREAMS):
        monitor = watch(make_stream(truth, seed), MonitorSettings(), until=truth.at + 1000)
        state = monitor.state()
        firsts.append(first_alarm(monitor))
        if state["alarm"] and firsts[-1] is not None and firsts[-1] > truth.at:
            starts.append(abs(state["since"] - 1 - truth.at))
            if state["whole"]["alarm"]:
                share = state["whole"]["foreign_share"]
                estimates.append(share["value"])
                covered.append(share["low"] <= truth.share <= share["high"])
    return {
        **asdict(truth),
        **delays(firsts, truth.at),
        "start_error": None if not starts else float(np.median(starts)),
        "estimate": None if not estimates else float(np.median(estimates)),
        "covered": None if not covered else float(np.mean(covered)),
    }


def other() -> dict[str, Any]:
    """Changes that nothing is promised about."""
    base = Truth(200, CHANGE + AFTER, CHANGE, strangeness=STRANGENESS[0])
    cases = [
        replace(base, kind="classes", share=0.3),
        replace(base, kind="classes", share=0.7),
        replace(base, kind="duplicates", share=0.02),
        replace(base, kind="duplicates", share=0.1),
        replace(base, kind="gradual", share=0.2),
    ]
    rows = []
    for truth in cases:
        firsts = [first_alarm(watch(make_stream(truth, seed), MonitorSettings())) for seed in range(STREAMS)]
        rows.append({**asdict(truth), **delays(firsts, CHANGE)})
        print(rows[-1], file=sys.stderr)
    return {"rows": rows}


def river() -> dict[str, Any]:
    """river's detectors on p-values of the same streams, at their defaults and at the level that keeps 1 %."""
    quiet_firsts, version = _river(replace(RIVER_CASE, texts=QUIET_TEXTS), after=RIVER_CASE.calibration + 1)
    strict = {name: _strictest(levels) for name, levels in quiet_firsts.items()}
    rows: dict[str, dict[str, Any]] = {}
    for name, levels in quiet_firsts.items():
        for kind, level in (("default", next(iter(levels))), ("strict", strict[name])):
            alarms = [first is not None for first in levels[level]]
            rows[f"{name}, {kind}"] = {"level": level, "streams": len(alarms), "alarms": sum(alarms), "delays": {}}
    for share in SHARES:
        start = RIVER_CASE.calibration + CHANGE
        found, _ = _river(replace(RIVER_CASE, share=share), after=start + 1)
        for row, values in rows.items():
            firsts = found[row.partition(",")[0]][values["level"]]
            values["delays"][str(share)] = delays(firsts, start)
    return {"version": version, "case": asdict(RIVER_CASE), "texts": QUIET_TEXTS, "rows": rows}


def _strictest(levels: dict[str, list[int | None]]) -> str:
    """The least strict level with alarms in at most 1 % of the quiet streams, or the strictest there is."""
    kept = [level for level, firsts in levels.items() if np.mean([first is not None for first in firsts]) <= 0.01]
    return kept[0] if kept else list(levels)[-1]


def _river(truth: Truth, after: int) -> tuple[dict[str, dict[str, list[int | None]]], str]:
    """First detections by detector and level. The calibration texts come first, as traffic that is known to be good."""
    count = QUIET_STREAMS if truth.share == 0 else STREAMS
    values = np.array([np.concatenate(p_values(make_stream(truth, seed))) for seed in range(count)])
    with tempfile.TemporaryDirectory(prefix="masker-drift-") as folder:
        task, result = Path(folder) / "task.npz", Path(folder) / "result.json"
        np.savez(task, values=values, after=after, most=list(RIVER_MOST.values()))
        script = str(Path(__file__).with_name("river_system.py"))
        # Isolated, so that no module from here is imported.
        subprocess.run([str(environments.RIVER.python), "-I", script, str(task), str(result)], check=True)
        content = json.loads(result.read_text(encoding="utf-8"))
    return content["firsts"], content["version"]


def corpora() -> dict[str, Any]:
    return {corpus.name: measure_corpus(corpus, SHARES) for corpus in CORPORA}


def cost() -> dict[str, Any]:
    """Processor time of a text, in batches and one at a time, and the size of what is kept."""
    stream = make_stream(Truth(200, COST_TEXTS), 0)
    labels = [NAMES[place] for place in stream.labels]
    found: dict[str, Any] = {"texts": COST_TEXTS, "microseconds": {}}
    for batch in (1000, 32, 1):
        monitor = DriftMonitor(stream.calibration, stream.calibration_labels, NAMES)
        texts = COST_TEXTS if batch > 1 else COST_TEXTS // 10
        start = time.process_time()
        for at in range(0, texts, batch):
            monitor.observe(stream.scores[at : at + batch], labels[at : at + batch])
        found["microseconds"][str(batch)] = round(1e6 * (time.process_time() - start) / texts)
        found.setdefault("state_kb", round(len(json.dumps(monitor.to_json())) / 1000))
    return found


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "quiet": quiet, "change": change, "other": other, "river": river, "corpora": corpora, "cost": cost,
}  # fmt: skip


def missing(part: str) -> str | None:
    """What a part needs and does not find."""
    if part == "river" and not environments.RIVER.is_ready:
        return f"no river in '{environments.RIVER.folder}'; run python -m benchmarks.environments river"
    local = {info.name for info in list_corpora() if info.location.startswith(("MASKER_DATA", "cache"))}
    absent = [name for name in NEEDED if name not in local]
    if part == "corpora" and absent:
        return f"no corpus {', '.join(absent)}; let MASKER_DATA name a folder with NAME.SPLIT.jsonl.gz files of it"
    return None


def separations() -> dict[str, float]:
    """AUROC of the simulated scores, by strangeness."""
    found = {}
    for strangeness in STRANGENESS:
        stream = make_stream(Truth(20_000, 20_000, 0, 1.0, strangeness), 0)
        found[str(strangeness)] = float(auroc(stream.calibration, stream.scores))
    return found


def example_state() -> dict[str, Any]:
    """What the page shows: a simulated stream with 10 % foreign texts."""
    stream = make_stream(replace(RIVER_CASE, share=0.1), 0)
    return watch(stream, MonitorSettings(), until=CHANGE + 2000).state()


def stored() -> dict[str, Any]:
    """What has been measured."""
    found: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drift")
    parser.add_argument("--only", nargs="*", choices=list(PARTS))
    parser.add_argument("--page", action="store_true", help="write the tables from the JSON, measure nothing")
    options = parser.parse_args()
    for name in [] if options.page else options.only or list(PARTS):
        reason = missing(name)
        if reason:
            print(f"{name} skipped: {reason}", file=sys.stderr)
            continue
        start = time.perf_counter()
        measured = PARTS[name]()
        # After each part, so that an interruption loses no finished part, nor one that another process has measured.
        write_json(RESULTS, {**stored(), name: measured, "auroc": separations(), "provenance": provenance()})
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    example = example_state()
    write_tables({**stored(), "example": example}, PAGE)
    draw_drift(example, PICTURE)


if __name__ == "__main__":
    main()
