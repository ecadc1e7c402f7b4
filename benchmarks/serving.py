"""``python -m benchmarks.serving``: throughput, overload, soak, killed workers and replicas, Schemathesis.

Writes ``results/serving.json`` after each part, and the tables of ``docs/serving.md`` from it. ``--only`` measures some
parts anew; ``--page`` only writes the page. All on one machine, over loopback; wrk runs in another process.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.environments import LITSERVE
from benchmarks.processor import processor_kind
from benchmarks.scoring import SCORED_DOCUMENTS, saved_model
from benchmarks.serving_contenders import BACKEND
from benchmarks.serving_load import (
    Server,
    free_port,
    masker_serve,
    require_wrk,
    wait_until_idle,
    workers,
    write_bodies,
    wrk,
)
from benchmarks.serving_page import write_tables
from benchmarks.setting import Setting, load_setting
from masker.client import Client
from masker.files import write_json
from masker.provenance import provenance

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "serving.json"
PAGE = ROOT / "docs" / "serving.md"

#: Name, texts of a request, characters of a text, connections: enough of them for batches to fill.
SHAPES = (("one short text", 1, 60, 256), ("one long text", 1, 512, 256), ("16 long texts", 16, 512, 16))
SECONDS = 10.0
BULK_TEXTS = {60: 1024, 512: 256}
#: Also measured with one text at a time only: they answer one text a request best.
OURS = {"masker serve": (), "masker serve --workers 2": ("--workers", "2")}
QUIET = ("--backend", BACKEND, "--log-level", "warning")
LOAD = 0.7


class Bulk:
    """A process that scores texts without HTTP."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "benchmarks.serving_contenders", "bulk", str(folder)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def rate(self, texts: Sequence[str]) -> float:
        """Texts in a second."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(texts) + "\n")
        self._process.stdin.flush()
        return len(texts) / float(self._process.stdout.readline())

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


class Bench:
    """A model to serve, and texts to send."""

    def __init__(self, setting: Setting, folder: Path, place: Path) -> None:
        self.folder, self._place = folder, place
        self._texts = setting.documents.texts

    def texts(self, characters: int, count: int) -> list[str]:
        """Texts cut to so many characters; each is used again if there are too few."""
        some = [text[:characters] for text in self._texts]
        return (some * (1 + count // len(some)))[:count]

    def bodies(self, characters: int, each: int) -> Path:
        file = self._place / f"{characters}-{each}.jsonl"
        return file if file.exists() else write_bodies(self.texts(characters, 960), each, file)


@contextmanager
def contenders(bench: Bench) -> Iterator[dict[str, Server]]:
    """Everything that is compared, running side by side; those that are idle use no processor."""
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(masker_serve(bench.folder, *QUIET, *options)) for name, options in OURS.items()
        }
        others = {name: ["benchmarks.serving_contenders", name] for name in ("pipeline", "ray")}
        if LITSERVE.is_ready:
            others["litserve"] = ["benchmarks.litserve_system"]
        for name, module in others.items():
            port = free_port()
            servers[name] = Server(["-m", *module, str(bench.folder), str(port)], port)
            stack.callback(servers[name].stop)
        yield servers


def throughput(bench: Bench, rounds: int) -> dict[str, Any]:
    """Texts in a second at saturation, each against a bulk run just before and just after."""
    rows = []
    bulk = Bulk(bench.folder)
    with contenders(bench) as servers:
        for shape, each, characters, connections in SHAPES:
            texts, bodies = bench.texts(characters, BULK_TEXTS[characters]), bench.bodies(characters, each)
            turns: dict[str, list[dict[str, Any]]] = {name: [] for name in servers}
            for number in range(-1, rounds):  # the first round warms up
                wait_until_idle()
                before = bulk.rate(texts)
                for name, server in servers.items():
                    found = wrk(server.url, bodies, connections, SECONDS)
                    wait_until_idle()
                    after = bulk.rate(texts)
                    rate = answered(found) * each / found["seconds"]
                    if number >= 0:
                        turns[name].append({**found, "rate": rate, "bulk": (before + after) / 2})
                    before = after
            rows += [_summary(shape, name, turns[name]) for name in servers]
            print(json.dumps(rows[-len(servers) :]), file=sys.stderr)
    bulk.close()
    return {"rows": rows, "seconds": SECONDS, "rounds": rounds, "shapes": SHAPES, "litserve": LITSERVE.is_ready}


def answered(found: dict[str, Any]) -> int:
    """Requests that were answered, not refused."""
    return int(found["requests"] - found["too_many"] - found["refused"] - found["failed"])


def _summary(shape: str, name: str, turns: list[dict[str, Any]]) -> dict[str, Any]:
    shares = [turn["rate"] / turn["bulk"] for turn in turns]
    median = {key: statistics.median(turn[key] for turn in turns) for key in ("rate", "bulk", "p50_ms", "p99_ms")}
    bad = {key: sum(turn[key] for turn in turns) for key in ("too_many", "refused", "failed", "connections_lost")}
    share = {"share": statistics.median(shares), "low": min(shares), "high": max(shares)}
    return {"shape": shape, "name": name, **share, **median, **bad}


def overload(bench: Bench, rounds: int) -> dict[str, Any]:
    """Many more callers than the queue takes: what they get, and how long those wait who are let in."""
    rows = []
    bodies = bench.bodies(512, 1)
    with masker_serve(bench.folder, *QUIET, "--max-queue", "128") as server:
        for connections in (64, 256, 1024):
            found = wrk(server.url, bodies, connections, 2 * SECONDS)
            rows.append({"connections": connections, **found})
    return {"rows": rows, "max_queue": 128}


def soak(bench: Bench, rounds: int, minutes: float = 10.0) -> dict[str, Any]:
    """A steady load of 70 % of what the service can do: memory and waiting times over the minutes."""
    bodies, connections = bench.bodies(512, 1), 64
    with masker_serve(bench.folder, *QUIET) as server:
        full = wrk(server.url, bodies, connections, 3 * SECONDS)
        most = full["requests"] / full["seconds"]
        pause = 1000 * connections / (LOAD * most)  # before the answer's own time, which it is shortened by
        calm = wrk(server.url, bodies, connections, SECONDS, pause)
        pause = max(1.0, pause - calm["p50_ms"])
        memory, slices = [], []
        end = time.monotonic() + 60 * minutes
        while time.monotonic() < end:
            slices.append(wrk(server.url, bodies, connections, min(60.0, 6 * minutes), pause))
            memory.append(round(server.memory_mb(), 2))
            print(json.dumps([memory[-1], slices[-1]]), file=sys.stderr)
    minutes_each = np.cumsum([one["seconds"] / 60 for one in slices])
    later = slice(len(memory) // 5, None)  # what is opened when it is first needed
    slope = np.polyfit(minutes_each[later], memory[later], 1)[0] if len(memory) > 2 else float("nan")
    done = sum(one["requests"] for one in slices)
    return {
        "minutes": round(float(minutes_each[-1]), 1),
        "load": done / sum(one["seconds"] for one in slices) / most,
        "requests": done,
        "failed": sum(one["failed"] + one["refused"] + one["connections_lost"] + one["timeouts"] for one in slices),
        "too_many": sum(one["too_many"] for one in slices),
        "p50_ms": statistics.median(one["p50_ms"] for one in slices),
        "p99_ms": [one["p99_ms"] for one in slices],
        "memory_mb": memory,
        "memory_mb_per_hour": round(60 * float(slope), 2),
    }


@contextmanager
def callers(url: str, count: int, texts: list[str]) -> Iterator[list[str]]:
    """Clients that ask on and on, with their retries; yields what came of each request."""
    outcomes, stop = [], threading.Event()

    def call() -> None:
        with Client(url, retries=10) as client:
            while not stop.is_set():
                try:
                    outcomes.append("answered" if len(client.predict(texts)) == len(texts) else "incomplete")
                except Exception as error:
                    outcomes.append(f"failed: {error}")

    threads = [threading.Thread(target=call) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield outcomes
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _kill_under_load(url: str, texts: list[str], alive: Callable[[], list[int]]) -> dict[str, Any]:
    first = alive()
    with callers(url, 16, texts) as outcomes:
        time.sleep(SECONDS)
        before = len(outcomes)
        os.kill(first[0], signal.SIGKILL)
        start = time.monotonic()
        while len(set(alive()) - {first[0]}) < len(first):
            time.sleep(0.1)
        replaced = time.monotonic() - start
        time.sleep(SECONDS)
    counted = Counter("answered" if one == "answered" else "failed" for one in outcomes)
    return {
        "processes": len(first),
        "answered": counted["answered"],
        "failed": counted["failed"],
        "before": before,
        "replaced_after_s": round(replaced, 1),
    }


def killed(bench: Bench, rounds: int) -> dict[str, Any]:
    """kill -9 of one worker of two under load."""
    texts = bench.texts(60, 4)
    with masker_serve(bench.folder, *QUIET, "--workers", "2") as server:
        return _kill_under_load(server.url, texts, lambda: workers(server.process.pid))


def killed_replica(bench: Bench, rounds: int) -> dict[str, Any]:
    """kill -9 of one Ray replica of two under load."""
    texts = bench.texts(60, 4)

    def replicas() -> list[int]:
        listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
        return [int(line.split()[0]) for line in listed.splitlines() if "ray::ServeReplica:masker" in line]

    with masker_serve(bench.folder, *QUIET, "--engine", "ray", "--workers", "2") as server:
        return _kill_under_load(server.url, texts, replicas)


def schema(bench: Bench, rounds: int) -> dict[str, Any]:
    """Requests made by Schemathesis from the service's own description, valid and not."""
    from benchmarks.serving_schema import try_all

    with masker_serve(bench.folder, *QUIET, "--max-texts", "8", "--max-characters", "200") as server:
        return try_all(server.url, examples=300)


def exported_model(setting: Setting) -> Path:
    """A model with the default score, in 8 bits."""
    from masker.export import export_onnx

    folder = saved_model(setting, score="auto", documents=SCORED_DOCUMENTS)
    export_onnx(folder, int8=True)
    return folder


PARTS: dict[str, Callable[..., dict[str, Any]]] = {
    "throughput": throughput,
    "overload": overload,
    "killed": killed,
    "killed-replica": killed_replica,
    "schema": schema,
    "soak": soak,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serving")
    parser.add_argument("--only", nargs="*", choices=list(PARTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=10.0, help="of the soak")
    parser.add_argument("--model", metavar="FOLDER", help="serve this model instead of one trained on the spot")
    parser.add_argument("--page", action="store_true", help="write the page from the JSON, measure nothing")
    options = parser.parse_args()
    results: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    if options.page:
        write_tables(results, PAGE)
        return
    require_wrk()
    setting = load_setting()
    folder = Path(options.model) if options.model else exported_model(setting)
    with tempfile.TemporaryDirectory(prefix="masker-bench-") as place:
        bench = Bench(setting, folder, Path(place))
        for name in options.only or PARTS:
            start = time.perf_counter()
            more = {"minutes": options.minutes} if name == "soak" else {}
            results[name] = PARTS[name](bench, options.rounds, **more)
            results["provenance"] = provenance(processor=processor_kind(), cores=os.cpu_count())
            RESULTS.parent.mkdir(exist_ok=True)
            write_json(RESULTS, results)
            write_tables(results, PAGE)
            print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
