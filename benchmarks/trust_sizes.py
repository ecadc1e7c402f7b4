"""Inputs that are large in one way: many classes, many rows, one long line. What they take, or what is said of them."""

from __future__ import annotations

import csv
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.trust_interruption import Place, empty
from benchmarks.trust_results import ROOT
from tests.conftest import _TOPICS

WORDS = [word for words in _TOPICS.values() for word in words]
CLASSES, ROWS, REJECTS, FEW_ROWS = 10_000, 2_000_000, 1_000_000, 20_000


@dataclass(frozen=True)
class Large:
    """What a command is given; ``{data}``, ``{model}``, ``{backbone}`` and ``{out}`` of its arguments are paths."""

    rows: Callable[[], Iterable[list[str]]]
    arguments: str


def many_classes() -> Iterator[list[str]]:
    draw = random.Random(0)
    yield ["text", "label"]
    for number in range(CLASSES):
        for _ in range(2):
            yield [f"{' '.join(draw.choices(WORDS, k=4))} {number}", f"class {number}"]


def tiny_rows(count: int) -> Iterator[list[str]]:
    draw = random.Random(0)
    yield ["text"]
    for _ in range(count):
        yield [" ".join(draw.choices(WORDS, k=draw.randint(1, 3)))]


def long_line(millions: int) -> Iterator[list[str]]:
    yield ["text"]
    yield ["moon " * (millions * 200_000)]
    yield ["a rocket"]


_TRAIN = "train {data} --output {out} --backbone {backbone} --max-length 16 --epochs 1 --device cpu"
_PREDICT = "predict {model} {data} --output {out} --device cpu"
_DISCOVER = "discover {model} {data} --all --output {out} --device cpu"
INPUTS = {
    "`predict`, 20,000 rows of one to three words": Large(lambda: tiny_rows(FEW_ROWS), _PREDICT),
    "`predict`, a text of 60 million characters": Large(lambda: long_line(60), _PREDICT),
    "`predict`, a line of 100 million characters": Large(lambda: long_line(100), _PREDICT),
    "`train --method linear`, 10,000 classes of two": Large(many_classes, _TRAIN + " --method linear"),
    "`train`, 10,000 classes of two": Large(many_classes, _TRAIN),
    "`monitor`, 2,000,000 rows of one to three words": Large(
        lambda: tiny_rows(ROWS), "monitor {model} {data} --device cpu --json"
    ),
    "`predict`, 2,000,000 rows of one to three words": Large(lambda: tiny_rows(ROWS), _PREDICT),
    "`discover --all`, 20,000 rows of one to three words": Large(lambda: tiny_rows(FEW_ROWS), _DISCOVER),
    "`discover --all`, 1,000,000 rows of one to three words": Large(lambda: tiny_rows(REJECTS), _DISCOVER),
}


def large(place: Place, names: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """Each command in a process of its own: how it ended, processor time and the most memory."""
    for name, case in INPUTS.items():
        if names and not any(part in name for part in names):
            continue
        with empty(place.folder / "work") as work:
            data = work / "data.csv"
            with data.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows(case.rows())
            paths = {"data": data, "model": place.folder / "model", "backbone": place.folder / "bert"}
            arguments = [word.format(**paths, out=work / "out") for word in case.arguments.split()]
            yield {"input": name, **_measured(arguments, work / "log")}


def _measured(arguments: list[str], log: Path) -> dict[str, Any]:
    since = time.monotonic()
    pid = os.fork()
    if not pid:
        file = os.open(log, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(file, 2)
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        os.execve(sys.executable, [sys.executable, "-m", "masker", *arguments], environment)
    _, status, used = os.wait4(pid, 0)
    text = log.read_text(encoding="utf-8", errors="replace")
    code = os.waitstatus_to_exitcode(status)
    lines = [line for line in text.replace("\r", "\n").split("\n") if line.strip()]
    refused = code == 2 and "Traceback" not in text
    return {
        "code": code,
        "explained": refused,
        "line": lines[-1].replace(str(log.parent), "…") if refused else "",
        "seconds": round(time.monotonic() - since, 1),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak_mb": used.ru_maxrss // 1024,
    }
