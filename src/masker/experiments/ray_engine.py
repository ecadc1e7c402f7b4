"""Runs a graph of stages on Ray: many at a time, each after those it depends on, none lost with its worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from typing import Any, Protocol, TypeVar

from masker.errors import MaskerError
from masker.ray.cluster import Place, open_cluster

#: How often a stage is started again when its worker was killed. What kills every worker is the stage's own fault.
RETRIES = 3
#: Cores for each stage unless the number of workers is given; training gains little from more.
CORES_EACH = 4


class Stage(Protocol):
    """What the engine has to know of a stage. The rest is between the planner and ``run_stage``."""

    @property
    def id(self) -> str:
        """A name of its own."""

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Ids of the stages that have to be finished before."""


S = TypeVar("S", bound=Stage)


def execute(
    stages: Iterable[S],
    run_stage: Callable[[S], Any],
    *,
    done: Collection[str] = (),
    workers: int | None = None,
    address: str | None = None,
    on_started: Callable[[S], None] | None = None,
    on_finished: Callable[[S, float], None] | None = None,
) -> None:
    """Run all stages that are not done.

    A stage leaves its result in files that all workers see; nothing comes back but its duration. It may be started
    again after its worker was killed, so ``run_stage`` has to go on from what it finds, or do it anew.

    Args:
        stages: The graph. A dependency that is not among them counts as done.
        run_stage: Does the work; a top-level function (or a ``partial`` of one) that the workers can import.
        done: Ids of stages that need not run.
        workers: How many stages run at a time; ``None`` takes one for every four cores.
        address: A running cluster; see :func:`masker.ray.cluster.open_cluster`.
        on_started: Called in this process when a stage is handed to Ray.
        on_finished: Called in this process with a finished stage and the seconds that it took.

    Raises:
        MaskerError: When a stage failed; those that do not depend on it are finished by then.
    """
    waiting = {stage.id: stage for stage in stages if stage.id not in done}
    if not waiting:
        return
    unfinished, total = set(waiting), len(waiting)
    failed: list[str] = []
    running: dict[Any, S] = {}
    with open_cluster(total, workers, address, cores_each=CORES_EACH) as cluster:
        ray = cluster.ray
        place = Place.here(cluster.threads)
        task = ray.remote(_run).options(num_cpus=cluster.num_cpus, max_retries=RETRIES)
        while True:
            free = [stage for stage in waiting.values() if unfinished.isdisjoint(stage.depends_on)]
            for stage in free[: cluster.workers - len(running)]:
                del waiting[stage.id]
                if on_started is not None:
                    on_started(stage)
                running[task.remote(run_stage, stage, place)] = stage
            if not running:
                break
            ((ready, *_), _) = ray.wait(list(running), num_returns=1)
            stage = running.pop(ready)
            seconds, problem = _outcome(ray, ready)
            if problem is not None:
                failed.append(f"{getattr(stage, 'title', '') or stage.id}: {problem}")
                continue
            unfinished.remove(stage.id)
            if on_finished is not None:
                on_finished(stage, seconds)
    if failed:
        rest = f" and {len(waiting)} that need them did not run" if waiting else ""
        summary = f"{len(failed)} of {total} stages failed{rest}; the others are done"
        raise MaskerError("\n".join([*failed, summary]))
    if waiting:
        raise MaskerError(f"the stages {', '.join(sorted(waiting))} wait for each other; the plan is wrong")


def _run(run_stage: Callable[[S], Any], stage: S, place: Place) -> tuple[float, str | None]:
    """In a worker: do the stage; its seconds, and what the user has to know if it cannot be done."""
    place.enter()
    start = time.monotonic()
    try:
        run_stage(stage)
    except (MaskerError, OSError) as error:
        return time.monotonic() - start, str(error)
    return time.monotonic() - start, None


def _outcome(ray: Any, ready: Any) -> tuple[float, str | None]:
    try:
        seconds, problem = ray.get(ready)
    except ray.exceptions.RayTaskError:
        raise  # a mistake in the program, whose traceback is wanted
    except ray.exceptions.RayError as error:
        return 0.0, f"killed {RETRIES + 1} workers ({type(error).__name__})"
    return seconds, problem
