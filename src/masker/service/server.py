"""Running the application: one process, or several workers that share a port and have a supervisor."""

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
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from threadpoolctl import threadpool_limits
from uvicorn.config import STARTUP_FAILURE

from masker.errors import ConfigError, MaskerError
from masker.service.failures import ServiceError
from masker.service.request_log import log_settings
from masker.service.service_metrics import FOLDER_VARIABLE
from masker.service.service_options import ServiceOptions
from masker.service.supervisor import Supervisor

_log = logging.getLogger("masker")

#: Makes the application; with several workers it is sent to each of them.
AppBuilder = Callable[[], FastAPI]
#: Seconds to finish what was accepted, beyond what a request may take.
_GRACE = 5
#: Seconds that an idle connection stays open; longer than proxies keep theirs, which would use one that is closing.
_KEEP_ALIVE = 75
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
    threadpool_limits(1, user_api="blas")


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
