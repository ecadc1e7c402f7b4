"""Run a graph of stages on Ray: many at a time, each after those it depends on, none lost with its worker.

Every stage is a Ray task that takes the results of the stages it depends on as arguments. So Ray starts it once they
are done, does not start it if one of them failed, and starts it again if its worker is killed. What is left to us is
priority, which Ray's queue does not have: stages are submitted in the order given, and only as many as can keep all
workers busy. Submitted all at once, every model of a large experiment would be trained before the first is evaluated.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, Generic, Protocol, TypeVar

from masker.errors import MaskerError
from masker.ray.cluster import Cluster, WorkerSetup, open_cluster

#: How often a stage is restarted after its worker was killed. A stage that kills every worker is itself at fault.
RETRIES = 3
#: Cores for each stage unless the number of workers is given; training gains little from more.
CORES_EACH = 4


class StageLike(Protocol):
    """What the graph needs to know of a stage; the rest is between the planner and ``run_stage``."""

    @property
    def id(self) -> str: ...

    @property
    def depends_on(self) -> tuple[str, ...]: ...


S = TypeVar("S", bound=StageLike)


def _ignore(*arguments: Any) -> None:
    pass


def run_graph(
    stages: Iterable[S],
    run_stage: Callable[[S], Any],
    *,
    workers: int | None = None,
    on_started: Callable[[S], None] = _ignore,
    on_finished: Callable[[S, float], None] = _ignore,
) -> None:
    """Run all stages.

    A stage leaves its result in files that all workers see; only its duration is returned. It may be restarted after
    its worker was killed, so ``run_stage`` must resume from what it finds, or start over.

    Args:
        stages: The graph, in order of priority. A dependency that is not among them counts as done.
        run_stage: A top-level function (or a ``partial`` of one) that the workers can import.
        workers: Stages at a time; ``None`` takes one for every four cores.
        on_started: Called in this process when nothing keeps Ray from starting a stage.
        on_finished: Called in this process, with the duration in seconds.

    Raises:
        MaskerError: When a stage failed; by then all stages that do not depend on it are done.
    """
    waiting = {stage.id: stage for stage in stages}
    if not waiting:
        return
    with open_cluster(len(waiting), workers, cores_each=CORES_EACH) as cluster:
        _GraphRun(cluster, waiting, run_stage, on_started, on_finished).go()


class _GraphRun(Generic[S]):
    def __init__(
        self,
        cluster: Cluster,
        waiting: dict[str, S],
        run_stage: Callable[[S], Any],
        on_started: Callable[[S], None],
        on_finished: Callable[[S, float], None],
    ) -> None:
        self.ray, self.workers = cluster.ray, cluster.workers
        self.waiting, self.total = waiting, len(waiting)
        self.run_stage, self.on_started, self.on_finished = run_stage, on_started, on_finished
        self.setup = WorkerSetup.of_this_process(cluster.threads)
        self.task = self.ray.remote(_run).options(**cluster.resources, max_retries=RETRIES)
        self.results: dict[str, Any] = {}  # id -> Ray's reference to the result
        self.running: dict[Any, S] = {}  # reference -> stage; those that wait for their dependencies in Ray included
        self.failed: dict[str, str] = {}  # id -> problem; empty for a stage that did not run because another failed

    def go(self) -> None:
        try:
            self._submit()
            while self.running:
                ((ready, *_), _) = self.ray.wait(list(self.running), num_returns=1)
                self._settle(ready)
                self._submit()
        finally:
            for reference in self.running:
                self.ray.cancel(reference)
        if self.waiting:
            raise MaskerError(f"stages {', '.join(sorted(self.waiting))} depend on each other; fix the plan")
        problems = [problem for problem in self.failed.values() if problem]
        if problems:
            skipped = len(self.failed) - len(problems)
            rest = f", {skipped} that depend on them did not run" if skipped else ""
            summary = f"{len(problems)} of {self.total} stages failed{rest}; all others are done"
            raise MaskerError("\n".join([*problems, summary]))

    def _submit(self) -> None:
        """Hand stages to Ray, dependencies first, until every worker can be busy."""
        while sum(self._is_free(stage) for stage in self.running.values()) < self.workers:
            following = (stage for stage in self.waiting.values() if self.waiting.keys().isdisjoint(stage.depends_on))
            stage = next(following, None)
            if stage is None:
                return
            del self.waiting[stage.id]
            parents = [self.results[name] for name in stage.depends_on if name in self.results]
            reference = self.task.remote(self.run_stage, stage, self.setup, *parents)
            self.results[stage.id] = reference
            self.running[reference] = stage
            self._announce([stage])

    def _settle(self, reference: Any) -> None:
        stage = self.running.pop(reference)
        for name in stage.depends_on:  # whose results are ready too, or Ray would not have got to this one
            if self.results.get(name) in self.running:
                self._settle(self.results[name])
        try:
            seconds = self.ray.get(reference)
        except self.ray.exceptions.RayError as error:
            skipped = not self.failed.keys().isdisjoint(stage.depends_on)
            problem = "" if skipped else f"{getattr(stage, 'title', '') or stage.id}: {self._explain(error)}"
            self.failed[stage.id] = problem
        else:
            self.on_finished(stage, seconds)
            self._announce([child for child in self.running.values() if stage.id in child.depends_on])

    def _announce(self, stages: Iterable[S]) -> None:
        for stage in stages:
            if self._is_free(stage) and self.failed.keys().isdisjoint(stage.depends_on):
                self.on_started(stage)

    def _is_free(self, stage: S) -> bool:
        """Whether a submitted stage waits for no other."""
        return all(self.results.get(name) not in self.running for name in stage.depends_on)

    def _explain(self, error: Any) -> str:
        """One line for the user; a bug in the program is raised instead, because its traceback is wanted."""
        if not isinstance(error, self.ray.exceptions.RayTaskError):
            return f"killed {RETRIES + 1} workers ({type(error).__name__})"
        if isinstance(error.cause, (MaskerError, OSError)):
            return str(error.cause)
        raise error


def _run(run_stage: Callable[[S], Any], stage: S, setup: WorkerSetup, *parents: float) -> float:
    """In a worker: do the stage; returns its duration. ``parents`` is there to make Ray wait for them."""
    setup.apply()
    start = time.monotonic()
    run_stage(stage)
    return time.monotonic() - start
