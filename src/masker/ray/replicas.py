"""An ASGI application as replicas of a Ray Serve deployment: requests go to those that live, dead ones are replaced."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from masker.errors import ConfigError
from masker.extras import require
from masker.ray.cluster import Cluster, WorkerSetup

#: The name of the application on its cluster.
NAME = "masker"
#: Requests that a replica may have at a time; its application refuses what is too much for it.
ONGOING = 2048
#: Seconds between looks at a replica, and until one without an answer is given up.
_HEALTH = {"health_check_period_s": 2.0, "health_check_timeout_s": 30.0}


@dataclass(frozen=True)
class ReplicaOptions:
    """How many replicas, and what each gets."""

    replicas: int
    setup: WorkerSetup
    num_cpus: float = 1
    num_gpus: float = 0
    grace: float = 30.0  # seconds to finish what was accepted

    @classmethod
    def of(cls, cluster: Cluster, grace: float) -> ReplicaOptions:
        """One replica for each worker of a cluster."""
        setup = WorkerSetup.of_this_process(cluster.threads)
        return cls(cluster.workers, setup, cluster.num_cpus, cluster.num_gpus, grace)


def replicated(build: Callable[[], Any], options: ReplicaOptions) -> Any:
    """A Ray Serve application whose replicas each make an ASGI application with ``build``."""
    serve = require("--engine ray", "ray.serve")

    def build_in_replica() -> Any:
        options.setup.apply()
        return build()

    resources = {"num_cpus": options.num_cpus, "num_gpus": options.num_gpus}
    return (
        serve.deployment(serve.ingress(build_in_replica)())
        .options(
            name=NAME,
            num_replicas=options.replicas,
            max_ongoing_requests=ONGOING,
            graceful_shutdown_timeout_s=options.grace,
            ray_actor_options=resources,
            **_HEALTH,
        )
        .bind()
    )


@contextmanager
def running_replicas(application: Any, host: str, port: int) -> Iterator[None]:
    """Inside the context the application answers on a port of every machine of the cluster.

    Raises:
        ConfigError: When it cannot be started.
    """
    serve = require("--engine ray", "ray.serve")
    logging.getLogger("ray.serve").setLevel(logging.ERROR)
    quiet = {"log_level": logging.ERROR, "enable_access_log": False}
    try:
        serve.start(http_options={"host": host, "port": port}, logging_config=quiet)
        serve.run(application, name=NAME, route_prefix="/", logging_config=quiet)
    except RuntimeError as error:
        serve.shutdown()
        raise ConfigError(f"the replicas cannot be started ({' '.join(str(error).split())[:300]})") from None
    try:
        yield
    finally:
        serve.shutdown()
