"""Starting Ray on this machine, or joining a Ray cluster that runs already."""

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

_log = logging.getLogger("masker")

#: Ray's store of shared objects, on this machine. Only paths and counts go through it, so the least Ray takes will do.
OBJECT_STORE_BYTES = 100 * 2**20

_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}


@dataclass(frozen=True)
class Cluster:
    """A running Ray.

    Attributes:
        ray: The module.
        workers: How many pieces of work may run at a time.
        threads: Cores for each of them.
        num_cpus: What to ask Ray for, for each of them.
    """

    ray: Any
    workers: int
    threads: int
    num_cpus: int


@dataclass(frozen=True)
class Place:
    """What a worker has to share with the process that gave it work: working folder, our variables; and its cores."""

    folder: str
    variables: dict[str, str]
    threads: int

    @classmethod
    def here(cls, threads: int) -> Place:
        """The place of this process."""
        own = {name: value for name, value in os.environ.items() if name.startswith("MASKER_")}
        return cls(os.getcwd(), own, threads)

    def enter(self) -> None:
        """Make this process stand there."""
        os.environ.update(self.variables)
        os.chdir(self.folder)
        limit_threads(self.threads)


@contextmanager
def open_cluster(
    pieces: int, workers: int | None = None, address: str | None = None, *, cores_each: int = 1
) -> Iterator[Cluster]:
    """Join the cluster at ``address``, or start Ray here and stop it at the end.

    A Ray that this process has started or joined already is used as it is. Started here, it listens on the loopback
    interface alone, has no dashboard, and talks to nobody without this process's token.

    Args:
        pieces: How many pieces of work there are; more workers would be idle.
        workers: How many may run at a time; ``None`` takes as many as there are cores for.
        address: ``host:port`` or ``auto``; ``None`` looks at ``RAY_ADDRESS``, and without that starts Ray here.
        cores_each: Cores that a worker should have when the number of workers is not given.

    Raises:
        ConfigError: When Ray is not installed, or cannot be reached or started.
    """
    address = address or os.environ.get("RAY_ADDRESS")
    ray = _require_ray()
    ours = not ray.is_initialized()
    try:
        if ours and address is None:
            cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
            chosen = max(1, min(workers or cores // cores_each, pieces))
            _start(ray, chosen)
            # Ray keeps a process ready for each of its CPUs, so it is told of as many as there are workers.
            yield Cluster(ray, chosen, max(1, cores // chosen), 1)
        else:
            if ours:
                _join(ray, str(address))
            machines = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
            cores = sum(machines)
            chosen = max(1, min(workers or cores // cores_each, pieces, cores))
            if workers is not None and chosen < min(workers, pieces):
                _log.warning("the cluster has %d cores, so only %d workers run", cores, chosen)
            # A worker lives on one machine and cannot have more cores than that.
            threads = max(1, min(cores // chosen, max(machines, default=1)))
            yield Cluster(ray, chosen, threads, threads)
    finally:
        if ours:
            ray.shutdown()


def limit_threads(threads: int) -> None:
    """Keep the numeric libraries of this process, loaded or not, to so many cores."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)


def _require_ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise ConfigError(f"--engine ray needs Ray ({error}); install it with pip install 'masker[ray]'") from None
    return ray


def _knock(address: str) -> None:
    """Ray would try for minutes to reach a machine that does not answer."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _join(ray: Any, address: str) -> None:
    try:
        _knock(address)
        ray.init(address=address, **_QUIET)
    except (OSError, RuntimeError, ValueError) as error:
        raise ConfigError(
            f"no Ray cluster takes us at '{address}' ({_line(error)}); start one with 'ray start --head', set "
            "RAY_AUTH_MODE=token if it asks for a token, or leave out --address to use this machine alone"
        ) from None


def _start(ray: Any, workers: int) -> None:
    if not any(name in os.environ for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")):
        # Ray would write a token that all may read to the home folder; this one dies with the process.
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
        raise ConfigError(f"Ray cannot be started on this machine ({_line(error)}); use --engine local") from None
    if not ray.util.get_node_ip_address().startswith("127."):
        raise ConfigError(
            f"this Ray ({ray.__version__}) would listen on the network; use --engine local, or start it yourself with "
            "'ray start --head' and pass --address"
        )


@contextmanager
def _loopback_only() -> Iterator[None]:
    """Ray takes 127.0.0.1 for the address of the machine only where clusters are switched off, as on macOS.

    The switch is a variable, which its processes inherit, and a constant that Ray made of it when it was imported.
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
