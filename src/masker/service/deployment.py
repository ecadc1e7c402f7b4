"""The service on a Ray cluster: ``masker serve --engine ray``, or a line in a configuration file of Ray Serve.

::

    applications:
      - name: masker
        import_path: masker.service.deployment:application
        args: {model: /shared/model, backend: onnx-int8, replicas: 4, token_file: /run/secrets/token}
"""

from __future__ import annotations

import logging.config
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from types import FrameType
from typing import Any

from fastapi import FastAPI

from masker.errors import ConfigError, did_you_mean
from masker.ray.cluster import RayOptions, WorkerSetup, open_cluster
from masker.ray.replicas import ReplicaOptions, replicated, running_replicas
from masker.service.request_log import log_settings
from masker.service.served_folder import ServedFolder, read_token
from masker.service.server import Listening, bind, use_one_core_for_blas
from masker.service.service_options import ServiceOptions

_log = logging.getLogger("masker")

_OPENING = ("backend", "device", "score", "false_alarm_rate", "confidence")
_MORE = ("model", "replicas", "cores", "token_file", "log_level")


@dataclass(frozen=True)
class ReplicaApp:
    """Makes the application of one replica."""

    served: ServedFolder
    log_level: str = "info"

    def __call__(self) -> FastAPI:
        """The application."""
        logging.config.dictConfig(log_settings(self.log_level))
        # A reload would reach one replica and not the others; Ray replaces them all when it is deployed again.
        app = replace(self.served, reloads=False)()
        use_one_core_for_blas()
        return app


def application(arguments: dict[str, Any]) -> Any:
    """The application that a configuration file of Ray Serve names.

    Args:
        arguments: ``model``, and optionally ``replicas``, ``cores`` (of each), ``token_file``, ``log_level``, what
            :meth:`masker.Model.open` takes, and the fields of :class:`ServiceOptions`.

    Raises:
        ConfigError: When ``model`` is missing, or another argument is not known.
    """
    limits = [field.name for field in fields(ServiceOptions)]
    known = [*_MORE, *_OPENING, *limits]
    for name in arguments:
        if name not in known:
            raise ConfigError(f"args: unknown '{name}'; known: {', '.join(known)}.{did_you_mean(name, known)}")
    if "model" not in arguments:
        raise ConfigError("args: 'model' is missing; name the model folder")
    options = ServiceOptions(**{name: arguments[name] for name in limits if name in arguments})
    if "token_file" in arguments:
        options = replace(options, token=read_token(arguments["token_file"]))
    opening = {name: arguments[name] for name in _OPENING if name in arguments}
    cores = int(arguments.get("cores", 1))
    build = ReplicaApp(ServedFolder(arguments["model"], opening, options), arguments.get("log_level", "info"))
    setup = WorkerSetup.of_this_process(cores)
    return replicated(build, ReplicaOptions(int(arguments.get("replicas", 1)), setup, cores))


def serve_on_ray(served: ServedFolder, listening: Listening, ray: RayOptions) -> None:
    """Serve with replicas until SIGTERM or SIGINT.

    Raises:
        ConfigError: When there is no such cluster, the port is taken, or open to everybody by mistake.
        ModelError: When the model cannot be opened.
    """
    listening.check(served.options)
    served.open()  # what is wrong with it is said in one line here, and at length in a replica
    bind(listening.host, listening.port).close()
    workers = ray.workers or listening.workers
    with open_cluster(workers, workers, ray.address, gpus=_uses_gpu(served)) as cluster:
        options = ReplicaOptions.of(cluster, served.options.request_timeout)
        build = ReplicaApp(served, listening.log_level)
        with _stop_signal() as wait, running_replicas(replicated(build, options), listening.host, listening.port):
            logging.config.dictConfig(log_settings(listening.log_level))
            url = f"http://{listening.host}:{listening.port}"
            _log.info("serving", extra={"fields": {"url": url, "replicas": options.replicas}})
            wait()


def _uses_gpu(served: ServedFolder) -> bool:
    backend, device = served.opening.get("backend"), served.opening.get("device", "auto")
    return device != "cpu" and not (backend or "").startswith("onnx")


@contextmanager
def _stop_signal() -> Iterator[Callable[[], bool]]:
    """What waits for SIGTERM or SIGINT."""
    asked = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        asked.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield asked.wait
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
