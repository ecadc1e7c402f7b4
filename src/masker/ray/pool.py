"""A pool of workers on Ray that shares out shards."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any

from masker.commands.shard_files import Shard
from masker.commands.shard_worker import ShardJob, ShardResult, ShardWorker
from masker.errors import MaskerError, ModelError
from masker.ray.cluster import Cluster

_log = logging.getLogger("masker")

#: How often work is given to another worker when its own was killed. What kills every worker is the work's own fault.
ATTEMPTS = 3


def predict_on_ray(
    cluster: Cluster,
    job: ShardJob,
    shards: Iterable[Shard],
    on_result: Callable[[ShardResult], None],
    worker: type[ShardWorker] = ShardWorker,
) -> None:
    """Predict all shards; a shard whose worker was killed goes to another one.

    Args:
        cluster: Where.
        job: What to do with each shard.
        shards: The shards.
        on_result: Called for every shard, in the order in which they are finished.
        worker: What each member of the pool is made of.

    Raises:
        MaskerError: When the model cannot be opened, or workers do not survive opening it.
    """
    ray = cluster.ray
    actor = ray.remote(worker).options(num_cpus=cluster.num_cpus, max_restarts=0)
    waiting = deque(shards)
    lost: Counter[Shard] = Counter()
    lost_in_preparation = 0
    running: dict[Any, tuple[Any, Shard | None]] = {}

    def hire() -> None:
        member = actor.remote(job, cluster.threads)
        running[member.prepare.remote()] = (member, None)

    for _ in range(cluster.workers):
        hire()
    while waiting or any(shard is not None for _, shard in running.values()):
        ((ready, *_), _) = ray.wait(list(running), num_returns=1)
        member, shard = running.pop(ready)
        try:
            outcome = ray.get(ready)
        except ray.exceptions.RayActorError as death:
            if shard is None:
                lost_in_preparation += 1
                if lost_in_preparation >= ATTEMPTS:
                    raise MaskerError(
                        f"workers do not survive opening the model ({_line(death)}); have they enough memory? "
                        "Give fewer --workers"
                    ) from None
            else:
                lost[shard] += 1
                if lost[shard] < ATTEMPTS:
                    _log.warning("%s: its worker was killed; another one takes it", shard.source)
                    waiting.appendleft(shard)
                else:
                    on_result(ShardResult(shard, "failed", message=f"{shard.source}: killed {ATTEMPTS} workers"))
            hire()
            continue
        except ray.exceptions.RayTaskError as error:
            assert shard is not None
            bug = f"{type(error.cause).__name__}: {error.cause}"
            outcome = ShardResult(shard, "failed", message=f"{shard.source}: unexpected {' '.join(bug.split())[:200]}")
        if shard is not None:
            on_result(outcome)
        elif outcome is not None:
            raise ModelError(outcome)
        if waiting:
            following = waiting.popleft()
            running[member.predict.remote(following)] = (member, following)


def _line(error: BaseException) -> str:
    """What an error of Ray's comes down to: it quotes a whole traceback, whose last line is the error itself."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join((lines or [type(error).__name__])[-1].split())[:200]
