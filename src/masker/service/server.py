"""Running the application: one process, or several workers that share a port and are replaced when they die."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import signal
import socket
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from prometheus_client.multiprocess import mark_process_dead
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from masker.errors import ConfigError, MaskerError
from masker.extras import require
from masker.service.failures import ServiceError
from masker.service.request_log import log_settings
from masker.service.service_metrics import FOLDER_VARIABLE
from masker.service.service_options import ServiceOptions

_log = logging.getLogger("masker")

#: Makes the application; with several workers it is sent to each of them.
AppBuilder = Callable[[], FastAPI]
#: Seconds to finish what was accepted, beyond what a request may take.
_GRACE = 5
#: Seconds that an idle connection stays open; longer than proxies keep theirs, which would use one that is closing.
_KEEP_ALIVE = 75
#: Seconds that a worker may leave its supervisor without an answer before it counts as hung.
_PATIENCE = 30.0
#: Seconds before another worker is started in place of one that could not open the model.
_RETRY = 5.0
#: Connections that one process accepts in a turn of its event loop.
_ACCEPTS = 32
#: Seconds between a worker's looks for its supervisor.
_LOOK = 1.0


@dataclass(frozen=True)
class Listening:
    """Where and how a service listens.

    Attributes:
        host: Address; beyond this machine only with a token, unless anonymous callers are allowed.
        port: Port; 0 takes a free one, which the log names.
        workers: Processes that share the port.
        allow_anonymous: Whether callers from other machines may do without a token.
        log_level: ``info`` logs every request, ``warning`` only what goes wrong.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    allow_anonymous: bool = False
    log_level: str = "info"

    def check(self, options: ServiceOptions) -> None:
        """Refuse to be open to everybody by mistake.

        Raises:
            ConfigError: When other machines could call without a token.
        """
        if options.token is None and not self.allow_anonymous and not is_loopback(self.host):
            raise ConfigError(
                f"anybody who reaches {self.host} could use the service; add --token-file FILE, listen on 127.0.0.1, "
                "or say --allow-anonymous"
            )


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bind(host: str, port: int) -> socket.socket:
    """Take the port before anything that takes long.

    Raises:
        ConfigError: When it is not to be had.
    """
    taken = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((host, port))
    except OSError as error:
        taken.close()
        raise ConfigError(
            f"cannot listen on {host}, port {port} ({error.strerror or error}); choose another --port or --host"
        ) from None
    taken.set_inheritable(True)
    return taken


def run_server(build: AppBuilder, options: ServiceOptions, listening: Listening) -> None:
    """Serve until SIGTERM or SIGINT, then finish what was accepted.

    Raises:
        ConfigError: When the port is taken, or open to everybody by mistake.
        ModelError: When the model cannot be opened.
    """
    listening.check(options)
    with bind(listening.host, listening.port) as taken:
        host = f"[{listening.host}]" if ":" in listening.host else listening.host
        url = f"http://{host}:{taken.getsockname()[1]}"
        if listening.workers == 1:
            _run_here(build, options, listening, taken, url)
        else:
            _run_workers(build, options, listening, taken, url)


def _run_here(build: AppBuilder, options: ServiceOptions, listening: Listening, taken: socket.socket, url: str) -> None:
    app = _prepared(build)
    app.state.service.on_start.append(partial(_announce, app, url, 1))
    # uvicorn raises the signal once more when it is done; by then there is nothing left to stop.
    before = {number: signal.signal(number, _done) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        uvicorn.Server(server_config(app, options, listening)).run(sockets=listeners(taken))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def listeners(taken: socket.socket) -> list[socket.socket]:
    """The sockets that one process listens on: the same one, many times.

    uvloop accepts one connection from each socket in a turn of its loop. With a single socket, new callers would wait
    for as many turns as there are callers before them, and under overload a turn is long. Of several workers, though,
    the first to wake would take all that wait, so each of those has the socket once.
    """
    return [taken, *(taken.dup() for _ in range(_ACCEPTS - 1))]


def _run_workers(
    build: AppBuilder, options: ServiceOptions, listening: Listening, taken: socket.socket, url: str
) -> None:
    with tempfile.TemporaryDirectory(prefix="masker-metrics-") as folder:
        os.environ[FOLDER_VARIABLE] = folder
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores // listening.workers)))
        config = server_config(partial(_worker_app, build, os.getpid()), options, listening)
        supervisor = Supervisor(config, taken, url)
        supervisor.run()
        if supervisor.failed:
            raise MaskerError("no worker could start; the lines above say why")


def server_config(app: Any, options: ServiceOptions, listening: Listening) -> uvicorn.Config:
    """How uvicorn runs the application."""
    return uvicorn.Config(
        app,
        factory=not isinstance(app, FastAPI),
        workers=listening.workers,
        log_config=log_settings(listening.log_level),
        access_log=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=int(options.request_timeout) + _GRACE,
    )


def _done(number: int, frame: FrameType | None) -> None:
    pass


def _announce(app: FastAPI, url: str, workers: int) -> None:
    _log.info("serving", extra={"fields": {"url": url, "model": app.state.service.name, "workers": workers}})


def use_one_core_for_blas() -> None:
    """Keep the small matrix products of scores on one core: threads that wait for each other take longer.

    To be called when numpy and scipy are loaded.
    """
    require("masker serve", "threadpoolctl").threadpool_limits(1, user_api="blas")


def _prepared(build: AppBuilder) -> FastAPI:
    """The application, ready for SIGHUP."""
    app = build()
    use_one_core_for_blas()
    app.state.service.on_start.append(partial(_reload_on_hangup, app))
    return app


def _reload_on_hangup(app: FastAPI) -> None:
    loop = asyncio.get_running_loop()
    running: set[asyncio.Task[None]] = set()

    async def reload() -> None:
        if app.state.service.told_others:  # this signal is the one that it asked for
            app.state.service.told_others = False
            return
        with suppress(ServiceError):  # the log has it already
            await app.state.service.reload()

    def on_hangup() -> None:
        task = loop.create_task(reload())
        running.add(task)
        task.add_done_callback(running.discard)

    if hasattr(signal, "SIGHUP"):
        loop.add_signal_handler(signal.SIGHUP, on_hangup)


def _worker_app(build: AppBuilder, supervisor: int) -> FastAPI:
    """The application of one worker. A problem of the user's is one line of the log."""
    try:
        app = _prepared(build)
    except MaskerError as error:
        _log.error("cannot start", extra={"fields": {"error": str(error)}})
        raise SystemExit(STARTUP_FAILURE) from None
    service = app.state.service
    if hasattr(signal, "SIGHUP"):
        service.tell_others = partial(os.kill, supervisor, signal.SIGHUP)
    service.on_start.append(partial(_stop_without, supervisor, service))
    return app


def _stop_without(supervisor: int, service: Any) -> None:
    """Stop when the supervisor is gone: nobody could stop this worker, and it would hold the port."""

    async def look() -> None:
        while os.getppid() == supervisor:
            await asyncio.sleep(_LOOK)
        os.kill(os.getpid(), signal.SIGTERM)

    service.looking = asyncio.get_running_loop().create_task(look())


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
