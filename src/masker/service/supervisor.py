"""The supervisor of several workers: it replaces those that die or hang, and tells them to reload."""

from __future__ import annotations

import logging
import os
import signal
import socket
from time import monotonic

import uvicorn
from prometheus_client.multiprocess import mark_process_dead
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors.multiprocess import Multiprocess, Process

_log = logging.getLogger("masker")

#: Seconds that a worker may leave its supervisor without an answer before it counts as hung.
_PATIENCE = 30.0
#: Seconds before another worker is started in place of one that could not open the model.
_RETRY = 5.0


class Worker(Process):
    """A worker as its supervisor sees it. Looking at one that starts never waits: importing libraries takes seconds."""

    ready = False
    _asked_at: float | None = None

    def look(self) -> bool:
        """Ask how it is, or take the answer; returns whether it is alive and has answered lately."""
        if not self.process.is_alive():
            return False
        try:
            if self._asked_at is None:
                self.parent_conn.send(b"ping")
                self._asked_at = monotonic()
            elif self.parent_conn.poll(0):
                self.ready, self._asked_at = self.parent_conn.recv(), None
        except OSError:
            return False
        return not self.ready or self._asked_at is None or monotonic() - self._asked_at < _PATIENCE


class Supervisor(Multiprocess):
    """uvicorn's supervisor of workers, with two differences.

    SIGHUP makes the workers reload their model instead of starting new workers. And once all have started, a worker
    that cannot open the model does not stop the others, which still serve the one before.
    """

    processes: list[Worker]  # type: ignore[assignment]

    def __init__(self, config: uvicorn.Config, taken: socket.socket, url: str) -> None:
        super().__init__(config, [taken])
        self.failed = False
        self._url, self._announced = url, False
        self._retry_at = 0.0

    def init_processes(self) -> None:
        for _ in range(self.processes_num):
            self.processes.append(self._started())

    def _started(self) -> Worker:
        worker = Worker(self.config, self.sockets)
        worker.start()
        return worker

    def handle_ttin(self) -> None:
        self.processes_num += 1
        self.processes.append(self._started())

    def handle_hup(self) -> None:
        for worker in self.processes:
            # One that starts will open the new model anyway.
            if worker.ready and worker.process.is_alive() and worker.pid is not None:
                os.kill(worker.pid, signal.SIGHUP)

    def keep_subprocess_alive(self) -> None:
        for place, worker in enumerate(self.processes):
            if not worker.look() and not self.should_exit.is_set():
                self._replace(place, worker)
        if not self._announced and all(worker.ready for worker in self.processes):
            self._announced = True
            _log.info("serving", extra={"fields": {"url": self._url, "workers": len(self.processes)}})

    def _replace(self, place: int, worker: Worker) -> None:
        if monotonic() < self._retry_at:
            return
        worker.kill()  # if it hangs
        worker.join()
        if worker.exitcode == STARTUP_FAILURE and not self._announced:
            self.failed = True
            self.should_exit.set()
            return
        if worker.exitcode == STARTUP_FAILURE:
            self._retry_at = monotonic() + _RETRY
        _log.error("worker died", extra={"fields": {"pid": worker.pid, "exit_code": worker.exitcode}})
        mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]
        self.processes[place] = self._started()
