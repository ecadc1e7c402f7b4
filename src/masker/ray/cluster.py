"""Start Ray on this machine, or join a running cluster."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from masker.errors import ConfigError
from masker.extras import require

_log = logging.getLogger("masker")

#: Size of Ray's object store on this machine. Only paths and counts go through it, so Ray's minimum is enough.
OBJECT_STORE_BYTES = 100 * 2**20

_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}


@dataclass(frozen=True)
class RayOptions:
    """Where Ray runs and how wide."""

    workers: int | None = None  # pieces of work at a time; None takes one per core
    address: str | None = None  # HOST:PORT of a cluster; None reads RAY_ADDRESS, or starts Ray on this machine


@dataclass(frozen=True)
class Cluster:
    """A running Ray, and what each of its workers gets."""

    ray: Any  # the module
    workers: int
    threads: int
    num_cpus: int  # to request from Ray
    num_gpus: int = 0

    @property
    def resources(self) -> dict[str, int]:
        """Options of a Ray task or actor."""
        return {"num_cpus": self.num_cpus, "num_gpus": self.num_gpus}


@dataclass(frozen=True)
class WorkerSetup:
    """What a worker takes over from the process that gave it work: working folder, ``MASKER_*`` variables, threads."""

    folder: str
    variables: dict[str, str]
    threads: int

    @classmethod
    def of_this_process(cls, threads: int) -> WorkerSetup:
        own = {name: value for name, value in os.environ.items() if name.startswith("MASKER_")}
        return cls(os.getcwd(), own, threads)

    def apply(self) -> None:
        os.environ.update(self.variables)
        os.chdir(self.folder)
        limit_threads(self.threads)


@contextmanager
def open_cluster(
    pieces: int, workers: int | None = None, address: str | None = None, *, cores_each: int = 1, gpus: bool = True
) -> Iterator[Cluster]:
    """Join the cluster at ``address``, or start Ray here and stop it at the end.

    If this process already runs or has joined Ray, that Ray is used and left running. A Ray started here listens on
    the loopback interface only, has no dashboard, and requires a token that only this process knows.

    Args:
        pieces: Number of pieces of work; more workers than that would be idle.
        workers: Pieces of work at a time; ``None`` takes one for every ``cores_each`` cores.
        address: ``HOST:PORT`` or ``auto``; ``None`` reads ``RAY_ADDRESS``, and without it starts Ray here.
        gpus: Whether the work can use a GPU. If the cluster has any, each worker then gets one of its own.
    """
    address = address or os.environ.get("RAY_ADDRESS")
    ray = _require_ray()
    ours = not ray.is_initialized()
    try:
        if ours and address is None:
            cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
            chosen = max(1, min(workers or cores // cores_each, pieces))
            _start(ray, chosen)
            num_gpus, chosen = _one_gpu_each(ray, chosen, gpus)
            # Ray keeps a process ready for each of its CPUs, so it was told of one CPU per worker.
            yield Cluster(ray, chosen, max(1, cores // chosen), 1, num_gpus)
        else:
            if ours:
                _join(ray, str(address))
            yield _share(ray, pieces, workers, cores_each, gpus)
    finally:
        if ours:
            ray.shutdown()


def limit_threads(threads: int) -> None:
    """Limit the numeric libraries of this process to ``threads`` cores, whether they are loaded yet or not."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)


def _share(ray: Any, pieces: int, workers: int | None, cores_each: int, gpus: bool) -> Cluster:
    """Divide the cores of a running cluster among workers."""
    machines = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
    cores = sum(machines)
    chosen = max(1, min(workers or cores // cores_each, pieces, cores))
    num_gpus, chosen = _one_gpu_each(ray, chosen, gpus)
    if workers is not None and chosen < min(workers, pieces):
        limit = "GPUs" if num_gpus else "cores"
        _log.warning("the cluster does not have the %s for %d workers; running %d", limit, workers, chosen)
    # A worker runs on one machine and cannot have more cores than that machine.
    threads = max(1, min(cores // chosen, max(machines, default=1)))
    return Cluster(ray, chosen, threads, threads, num_gpus)


def _one_gpu_each(ray: Any, workers: int, wanted: bool) -> tuple[int, int]:
    """GPUs per worker, and the number of workers that these are enough for."""
    available = int(ray.cluster_resources().get("GPU", 0)) if wanted else 0
    return (1, min(workers, available)) if available else (0, workers)


def _require_ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    return require("--engine ray", "ray")


def _knock(address: str) -> None:
    """Fail at once if nothing listens there; Ray itself would retry for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _join(ray: Any, address: str) -> None:
    try:
        _knock(address)
        ray.init(address=address, **_QUIET)
    except (OSError, RuntimeError, ValueError) as error:
        raise ConfigError(
            f"cannot join a Ray cluster at '{address}' ({_line(error)}); start one with 'ray start --head', set "
            "RAY_AUTH_MODE=token if it requires a token, or omit --address to use this machine only"
        ) from None


def _start(ray: Any, workers: int) -> None:
    if not any(name in os.environ for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")):
        # Ray would write a world-readable token to the home folder; this one dies with the process.
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    try:
        with _loopback_only():
            ray.init(
                address="local",
                num_cpus=workers,
                include_dashboard=False,
                object_store_memory=OBJECT_STORE_BYTES,
                _node_ip_address="127.0.0.1",
                **_QUIET,
            )
    except (OSError, RuntimeError, ValueError) as error:
        raise ConfigError(f"cannot start Ray on this machine ({_line(error)}); use --engine local") from None
    if not ray.util.get_node_ip_address().startswith("127."):
        raise ConfigError(
            f"this Ray ({ray.__version__}) would listen on the network; use --engine local, or start it yourself with "
            "'ray start --head' and pass --address"
        )


@contextmanager
def _loopback_only() -> Iterator[None]:
    """Make Ray accept 127.0.0.1 as the machine's address, which it does only with clusters disabled, as on macOS.

    The switch is an environment variable, which Ray's processes inherit, and a constant that Ray derived from it when
    it was imported.
    """
    name = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
    constants = import_module("ray._private.ray_constants")
    variable, constant = os.environ.get(name), getattr(constants, "ENABLE_RAY_CLUSTER", None)
    os.environ[name] = "0"
    constants.ENABLE_RAY_CLUSTER = False  # type: ignore[attr-defined]
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = constant  # type: ignore[attr-defined]
        os.environ.pop(name)
        if variable is not None:
            os.environ[name] = variable


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
