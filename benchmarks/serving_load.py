"""Load from another process: wrk, and the processes that it loads."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).parent / "load.lua"
CLASSIFY = "/v1/classify"


def require_wrk() -> None:
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is not installed; get it with 'apt-get install wrk'")


def write_bodies(texts: Sequence[str], each: int, file: Path) -> Path:
    """Requests of ``each`` texts, one a line."""
    parts = [texts[start : start + each] for start in range(0, len(texts) - each + 1, each)]
    file.write_text("".join(json.dumps({"texts": part}) + "\n" for part in parts), encoding="utf-8")
    return file


def wrk(url: str, bodies: Path, connections: int, seconds: float, pause_ms: float = 0.0) -> dict[str, Any]:
    """Load a service for a while; what came of it."""
    command = ["wrk", "--threads", "1", "--connections", str(connections), "--duration", f"{seconds:g}s"]
    command += ["--timeout", "120s", "--script", str(SCRIPT), url + CLASSIFY, "--", str(bodies), f"{pause_ms:g}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def idle_share(seconds: float = 0.5) -> float:
    """Share of the processor time that nobody used in the next moments."""

    def times() -> list[int]:
        return [int(value) for value in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]

    before = times()
    time.sleep(seconds)
    spent = [after - earlier for earlier, after in zip(before, times(), strict=True)]
    return (spent[3] + spent[4]) / max(1, sum(spent))  # idle, and waiting for a disk


def wait_until_idle(share: float = 0.9, most: float = 60.0) -> None:
    """Let services finish what their callers no longer wait for; gives up after ``most`` seconds."""
    end = time.monotonic() + most
    while idle_share() < share and time.monotonic() < end:
        pass


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Server:
    """A process that answers on a port."""

    def __init__(self, command: Sequence[str], port: int, path: str = "/health", **environment: str) -> None:
        self.url = f"http://127.0.0.1:{port}"
        handle, name = tempfile.mkstemp(prefix="masker-bench-", suffix=".log")
        self.log = Path(name)
        with os.fdopen(handle, "w") as log:
            self.process = subprocess.Popen(
                [sys.executable, *command], stdout=log, stderr=log, env={**os.environ, **environment}
            )
        end = time.monotonic() + 300
        while not self._answers(path):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{' '.join(command)} does not answer: {self.log.read_text()[-2000:]}")
            time.sleep(0.2)

    def _answers(self, path: str) -> bool:
        try:
            with urllib.request.urlopen(self.url + path, timeout=5) as answer:
                return bool(answer.status == 200)
        except (OSError, urllib.error.URLError):
            return False

    def processes(self) -> list[int]:
        """Its process, and those that it started."""
        return [self.process.pid, *children(self.process.pid)]

    def memory_mb(self) -> float:
        """Memory that its processes hold for themselves."""
        return sum(private_mb(pid) for pid in self.processes())

    def stop(self) -> None:
        """Ask it to stop; whatever it leaves running is killed."""
        started = self.processes()
        self.process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(30)
        for pid in started:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.log.unlink(missing_ok=True)


@contextmanager
def masker_serve(folder: Path, *options: str, **environment: str) -> Iterator[Server]:
    """``masker serve`` of a folder, once it is ready."""
    port = free_port()
    command = ["-m", "masker", "serve", str(folder), "--port", str(port), *options]
    server = Server(command, port, "/ready", **environment)
    try:
        yield server
    finally:
        server.stop()


def children(pid: int) -> list[int]:
    """Processes that a process started, and those that they did."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *children(child)]
    return found


def workers(pid: int) -> list[int]:
    """The workers of ``masker serve --workers N``."""
    commands = {child: Path(f"/proc/{child}/cmdline") for child in children(pid)}
    return [child for child, file in commands.items() if file.exists() and "spawn_main" in file.read_text()]


def private_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Clean", "Private_Dirty"))) / 1024
