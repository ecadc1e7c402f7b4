"""``masker serve`` in a process of its own, and callers that keep it busy."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from contextlib import contextmanager
from queue import Empty, Queue

from masker import Client
from tests.cli.command_line import start


class Running:
    """A service, its address and its log."""

    def __init__(self, *options: str, port: str = "0", **process):
        self.process = start("serve", *options, "--port", port, **process)
        self.lines: Queue[dict] = Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.url = self.event("serving")["url"]

    def _read(self):
        for line in self.process.stderr:
            self.lines.put(json.loads(line) if line.startswith("{") else {"event": line})

    def event(self, name: str, seconds: float = 120) -> dict:
        """The next line of the log about this."""
        end = time.monotonic() + seconds
        seen = []
        while time.monotonic() < end:
            try:
                line = self.lines.get(timeout=0.2)
            except Empty:
                assert self.process.poll() is None, seen
                continue
            seen.append(line)
            if line["event"] == name:
                return line
        raise AssertionError(f"no '{name}' in {seen}")

    def answered(self, texts: int) -> int:
        """Requests of so many texts that a stopped service has answered, by what is left of its log."""
        self.reader.join(10)
        lines = [self.lines.get() for _ in range(self.lines.qsize())]
        return sum(line.get("status") == 200 and line.get("texts") == texts for line in lines)

    def signal(self, number: int) -> None:
        os.kill(self.process.pid, number)

    def stop(self) -> int:
        self.signal(signal.SIGTERM)
        return self.process.wait(60)


@contextmanager
def running(*options: str):
    service = Running(*options)
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.stop()


@contextmanager
def load(url: str, callers: int = 4, **options):
    """Callers that ask on and on; yields the list of what they got, one entry a request."""
    answers, stop = [], threading.Event()

    def call():
        with Client(url, **options) as client:
            while not stop.is_set():
                try:
                    answers.append(len(client.predict(["the rocket", "the moon", "some bread"])))
                except Exception as error:
                    answers.append(error)

    threads = [threading.Thread(target=call) for _ in range(callers)]
    for thread in threads:
        thread.start()
    try:
        yield answers
    finally:
        stop.set()
        for thread in threads:
            thread.join()
